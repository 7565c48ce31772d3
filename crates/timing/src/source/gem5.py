# Configuration of gem5 for `stampmill time --source gem5`: PARAMETERS.json PROGRAM STDIN.
# The structure and the delays are those of github.com/darchr/gem5-skylake-config, which PIE used.
import json
import sys

import m5
from m5.objects import *

parameters = json.load(open(sys.argv[1]))
program, stdin = sys.argv[2], sys.argv[3]


class Level(Cache):
    tgts_per_mshr = 20
    write_buffers = 32

    def __init__(self, shape):
        super().__init__()
        self.size = shape["size"]
        self.assoc = shape["ways"]
        self.tag_latency = self.data_latency = shape["latency"]
        self.response_latency = max(1, shape["latency"] // 2)
        self.mshrs = shape["misses"]


system = System(mem_mode="timing", mem_ranges=[AddrRange("4GiB")])
system.clk_domain = SrcClockDomain(clock=parameters["clock"], voltage_domain=VoltageDomain())

cpu = X86O3CPU() if "X86O3CPU" in globals() else DerivO3CPU()
cpu.branchPred = LTAGE()
for stage in ("fetch", "decode", "rename", "dispatch", "issue", "wb", "commit", "squash"):
    setattr(cpu, stage + "Width", parameters["width"])
cpu.fetchToDecodeDelay = 5
cpu.decodeToRenameDelay = 3
cpu.renameToIEWDelay = 4
cpu.iewToCommitDelay = 4
cpu.fetchBufferSize = 16
cpu.fetchQueueSize = 64
cpu.numIQEntries = parameters["scheduler"]
cpu.LQEntries = parameters["load_queue"]
cpu.SQEntries = parameters["store_queue"]
cpu.numROBEntries = parameters["reorder_buffer"]
if parameters["max_instructions"]:
    cpu.max_insts_any_thread = parameters["max_instructions"]
system.cpu = cpu

cpu.icache = Level(parameters["l1i"])
cpu.dcache = Level(parameters["l1d"])
cpu.dcache.prefetcher = StridePrefetcher()
cpu.icache.cpu_side = cpu.icache_port
cpu.dcache.cpu_side = cpu.dcache_port
system.l2bus, system.l3bus, system.membus = L2XBar(), L2XBar(), SystemXBar()
cpu.icache.mem_side = system.l2bus.cpu_side_ports
cpu.dcache.mem_side = system.l2bus.cpu_side_ports
system.l2cache, system.l3cache = Level(parameters["l2"]), Level(parameters["l3"])
system.l2cache.cpu_side = system.l2bus.mem_side_ports
system.l2cache.mem_side = system.l3bus.cpu_side_ports
system.l3cache.cpu_side = system.l3bus.mem_side_ports
system.l3cache.mem_side = system.membus.cpu_side_ports

cpu.createInterruptController()
cpu.interrupts[0].pio = system.membus.mem_side_ports
cpu.interrupts[0].int_requestor = system.membus.cpu_side_ports
cpu.interrupts[0].int_responder = system.membus.mem_side_ports
system.system_port = system.membus.cpu_side_ports
system.mem_ctrl = MemCtrl(dram=DDR4_2400_16x4(range=system.mem_ranges[0]))
system.mem_ctrl.port = system.membus.mem_side_ports

system.workload = SEWorkload.init_compatible(program)
process = Process(cmd=[program], executable=program, input=stdin, env=[])
cpu.workload = process
cpu.createThreads()

root = Root(full_system=False, system=system)
m5.instantiate()
event = m5.simulate()
sys.exit(event.getCode())
