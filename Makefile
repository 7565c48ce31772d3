# make demo     set up, build, fetch three packages, show the kernels in them and what is made of them
# make test     set up, build, run every test but those of the training engine
# make torch    what `train` trains with, and the engine that draws on GPUs (fetches torch, 0.6 GB; GPU=1: 3 GB, for NVIDIA GPUs)
# make test-torch   tests of training, of both engines' logits and of `transformers`
# make objects  build the client of object stores, for data sets at s3:// (a workspace of its own)
# make cluster  build the engine of clusters (Apache Ballista; a workspace of its own)
# make test-cluster   tests of stages on a cluster of this machine, and of object stores (builds an S3 server, once)
# make check    what a commit must pass: format, layers, lints, tests, docs
# make build    only build; the binary is $(BIN)
# make bench    the benches behind the README's figures
# make wheel    what `pip install` takes: the command, its helpers and the Python module
# make test-wheel   tests of the wheel as installed (fetches pandas, pyarrow, mypy and pytest)
# make wheel-root   installs the wheel in a bare Debian and uses it there (fetches one; needs root)
# make notebooks  runs examples/ with the wheel as installed (fetches nbclient, pandas, datasets and others)
# make book     the book as pages, in the cache, beside those of other versions (fetches and builds mdBook once: two minutes of processor time)
# make deny     licenses, advisories and sources of all dependencies (needs cargo-deny and a network)
# make network  the checks that need package registries
#
# Build output lives outside of the checkout, so that a clean checkout does not recompile the world.

CACHE ?= $(or $(STAMPMILL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/stampmill)
export CARGO_TARGET_DIR ?= $(CACHE)/target
BIN := $(CARGO_TARGET_DIR)/release/stampmill
DEMO ?= demo

TORCH := $(CACHE)/torch

.PHONY: all setup build install demo test objects cluster test-cluster torch test-torch check deny bench network wheel test-wheel wheel-root notebooks book clean

all: build

setup:
	@scripts/setup.sh

build: setup
	cargo build --release --workspace

install: build
	install -D -t $(or $(PREFIX),$(HOME)/.local)/bin $(addprefix $(CARGO_TARGET_DIR)/release/,\
	  stampmill stampmill-clang stampmill-launch stampmill-device stampmill-clock stampmill-query libstampmill_timing.so)

# What shows kernels is built first, with the features of the whole workspace, so that nothing is built twice.
demo: setup
	cargo build --release --workspace --bin stampmill --bin stampmill-clang --bin stampmill-launch
	@scripts/demo.sh $(BIN) $(DEMO) "cargo build --release --workspace"

test: setup
	@cargo xtask test

# Beside the main binary, which finds it there.
objects: build
	CARGO_TARGET_DIR=$(CARGO_TARGET_DIR)/objects cargo build --release --locked --manifest-path engines/objects/Cargo.toml
	install -t $(CARGO_TARGET_DIR)/release $(CARGO_TARGET_DIR)/objects/release/stampmill-objects

# Beside the main binary, too; its dependencies are built by themselves, since they want more of
# DataFusion, Arrow and tokio than ours do.
cluster: objects
	CARGO_TARGET_DIR=$(CARGO_TARGET_DIR)/cluster cargo build --release --locked --manifest-path engines/cluster/Cargo.toml
	install -t $(CARGO_TARGET_DIR)/release $(CARGO_TARGET_DIR)/cluster/release/stampmill-cluster

test-cluster: cluster
	CARGO_TARGET_DIR=$(CARGO_TARGET_DIR)/objects cargo test --release --locked --manifest-path engines/objects/Cargo.toml
	CARGO_TARGET_DIR=$(CARGO_TARGET_DIR)/cluster cargo test --release --locked --manifest-path engines/cluster/Cargo.toml
	@CACHE=$(CACHE) scripts/s3-server.sh
	@STAMPMILL_S3_SERVER=$(CACHE)/s3s-fs/bin/s3s-fs cargo xtask test-cluster

torch: setup
	@CACHE=$(CACHE) scripts/torch.sh $(if $(GPU),--gpu)

test-torch: setup
	@CACHE=$(CACHE) scripts/torch.sh $(if $(GPU),--gpu)
	@STAMPMILL_TORCH=$(TORCH)/bin/stampmill-torch STAMPMILL_PYTHON=$(TORCH)/python/python cargo xtask test-torch

check: setup
	@cargo xtask check

deny:
	@scripts/deny.sh

network: build
	@scripts/network.sh $(BIN)

bench: build
	@scripts/bench.sh

wheel: objects
	@CACHE=$(CACHE) scripts/wheel.sh

test-wheel: objects
	@CACHE=$(CACHE) scripts/wheel.sh --test

wheel-root: wheel
	@CACHE=$(CACHE) scripts/wheel-root.sh

notebooks: build
	@CACHE=$(CACHE) scripts/notebooks.sh

book: build
	@CACHE=$(CACHE) scripts/book.sh

clean:
	rm -rf $(CARGO_TARGET_DIR) $(DEMO)
