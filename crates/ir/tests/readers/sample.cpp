#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
};
struct Both : virtual Shape, std::string {
  double area() const override { return static_cast<double>(size()); }
};
}  // namespace

template <class T>
T largest(const std::vector<T> &all) {
  if (all.empty()) throw std::invalid_argument("none");
  T found = all[0];
  for (const T &one : all)
    if (found < one) found = one;
  return found;
}

std::string name(int number) {
  static const std::map<int, std::string> names{{1, "one"}, {2, "two"}};
  auto found = names.find(number);
  return found == names.end() ? "many" : found->second;
}

thread_local std::atomic<int> calls{3};

double run(int count) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int at = 0; at < count; ++at) {
    if (at % 2)
      shapes.push_back(std::make_unique<Square>(at));
    else
      shapes.push_back(std::make_unique<Both>());
  }
  double all = 0;
  try {
    for (auto &shape : shapes) all += shape->area() + dynamic_cast<Square *>(shape.get())->side;
    all += largest(std::vector<double>{1, 2, all});
  } catch (const std::exception &error) {
    all -= static_cast<double>(std::string(error.what()).size());
  } catch (int) {
    calls++;
    throw;
  }
  auto add = [&](auto more) { all += more; };
  add(1);
  add(2.5f);
  return all + static_cast<double>(name(count).size());
}
