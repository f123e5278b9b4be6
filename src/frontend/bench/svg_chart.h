// Draws benchmark results as SVG: horizontal bars, or lines over a number, or several such charts below each other. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pistachio {

// One bar per row, from top to bottom; groups are separated by a gap.
struct BarChart {
  struct Part {
    std::string name;
    double value = 0;
  };
  struct Bar {
    std::string group;
    std::string label;
    double value = 0;
    std::string value_text;
    std::optional<double> mark;  // a line across the bar
    std::vector<Part> parts;     // a thin stripe below the bar
  };
  std::string title;
  std::string mark_name;
  std::vector<Bar> bars;
};

struct LineChart {
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;  // from left to right
  };
  struct Tick {
    double at = 0;
    std::string text;
  };
  std::string title;
  std::string x_title;
  std::string y_title;
  bool doubling_x = false;  // logarithmic axis
  std::vector<Tick> x_ticks;
  std::vector<Series> series;
};

std::string draw(const BarChart& chart);
std::string draw(const LineChart& chart);
std::string draw(const std::vector<LineChart>& charts);

}  // namespace pistachio
