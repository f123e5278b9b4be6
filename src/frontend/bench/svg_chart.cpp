#include "frontend/bench/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace pistachio {

namespace {

constexpr const char* kColors[] = {"#7aa874", "#3f6f9f", "#d28a3c", "#8b5fa3", "#b7493e", "#5c9ea0", "#8d8d8d", "#c2a83e"};
constexpr const char* kMarkColor = "#b03a2e";
constexpr double kWidth = 920;

const char* color(size_t index) {
  return kColors[index % std::size(kColors)];
}

std::string escaped(const std::string& text) {
  std::string made;
  for (char letter : text) {
    switch (letter) {
      case '&': made += "&amp;"; break;
      case '<': made += "&lt;"; break;
      case '>': made += "&gt;"; break;
      case '"': made += "&quot;"; break;
      default: made += letter;
    }
  }
  return made;
}

std::string text_at(double x, double y, const std::string& text, std::string_view anchor = "start", std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, escaped(text));
}

std::string rectangle(double x, double y, double width, double height, std::string_view fill) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y, std::max(0.0, width),
                     height, fill);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view stroke, double width) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"/>\n", x1, y1, x2, y2,
                     stroke, width);
}

std::string titled(const std::string& title, const std::string& body) {
  return text_at(12, 22, title, "start", " font-weight=\"bold\" font-size=\"14\"") + body;
}

std::string document(double height, const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n{2}{3}</svg>\n",
      kWidth, height, rectangle(0, 0, kWidth, height, "white"), body);
}

// A name has the same colour everywhere.
class Colors {
 public:
  const char* of(const std::string& name) { return color(places_.emplace(name, places_.size()).first->second); }
  const std::map<std::string, size_t>& places() const { return places_; }

 private:
  std::map<std::string, size_t> places_;
};

// A step of 1, 2 or 5 times a power of ten, so that about `wanted` steps cover the value.
double step_for(double largest, int wanted) {
  double rough = largest / wanted;
  double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= rough) return power * factor;
  }
  return power * 10;
}

}  // namespace

std::string draw(const BarChart& chart) {
  constexpr double kLeft = 340;
  constexpr double kRight = 110;
  constexpr double kBar = 18;
  constexpr double kStripe = 5;
  double longest = 0;
  for (const BarChart::Bar& bar : chart.bars) {
    double parts = 0;
    for (const BarChart::Part& part : bar.parts) parts += part.value;
    longest = std::max({longest, bar.value, bar.mark.value_or(0), parts});
  }
  double scale = longest > 0 ? (kWidth - kLeft - kRight) / longest : 0;
  Colors bar_colors;
  Colors part_colors;
  std::string body;
  double y = 40;
  const std::string* group = nullptr;
  for (const BarChart::Bar& bar : chart.bars) {
    if (group != nullptr && *group != bar.group) y += 12;
    group = &bar.group;
    std::string label = bar.group.empty() ? bar.label : fmt::format("{}: {}", bar.group, bar.label);
    body += text_at(kLeft - 8, y + 13, label, "end");
    body += rectangle(kLeft, y, bar.value * scale, kBar, bar_colors.of(bar.label));
    body += text_at(kLeft + bar.value * scale + 6, y + 13, bar.value_text);
    double x = kLeft;
    for (const BarChart::Part& part : bar.parts) {
      std::string fill = part_colors.of(part.name);
      body += rectangle(x, y + kBar + 1, part.value * scale, kStripe, fill);
      x += part.value * scale;
    }
    if (bar.mark) {
      double at = kLeft + *bar.mark * scale;
      body += line(at, y - 2, at, y + kBar + 2, kMarkColor, 2);
    }
    y += kBar + kStripe + 6;
  }
  y += 16;
  double x = kLeft;
  if (!chart.mark_name.empty()) {
    body += line(x, y - 10, x, y + 2, kMarkColor, 2);
    body += text_at(x + 6, y, chart.mark_name);
    x += 90;
  }
  for (const auto& [name, place] : part_colors.places()) {
    body += rectangle(x, y - 7, 12, kStripe, color(place));
    body += text_at(x + 16, y, name);
    x += 130;
  }
  return document(y + 16, titled(chart.title, body));
}

namespace {

constexpr double kPlotTop = 45;
constexpr double kPlotHeight = 320;
constexpr double kLineChartHeight = kPlotTop + kPlotHeight + 55;

// Without the enclosing document.
std::string lines_of(const LineChart& chart) {
  constexpr double kLeft = 70;
  constexpr double kRight = 250;
  constexpr double kTop = kPlotTop;
  constexpr double kHeight = kPlotHeight;
  double least_x = std::numeric_limits<double>::infinity();
  double most_x = -least_x;
  double most_y = 0;
  auto place = [&](double x) { return chart.doubling_x ? std::log2(std::max(x, 1e-9)) : x; };
  for (const LineChart::Series& series : chart.series) {
    for (const auto& [x, y] : series.points) {
      least_x = std::min(least_x, place(x));
      most_x = std::max(most_x, place(x));
      most_y = std::max(most_y, y);
    }
  }
  if (!(most_x > least_x)) most_x = least_x + 1;
  if (most_y <= 0) most_y = 1;
  double width = kWidth - kLeft - kRight;
  auto at_x = [&](double x) { return kLeft + (place(x) - least_x) / (most_x - least_x) * width; };
  auto at_y = [&](double y) { return kTop + kHeight * (1 - y / most_y); };
  std::string body = line(kLeft, kTop, kLeft, kTop + kHeight, "#444", 1);
  body += line(kLeft, kTop + kHeight, kLeft + width, kTop + kHeight, "#444", 1);
  double step = step_for(most_y, 6);
  for (double y = 0; y <= most_y * 1.0001; y += step) {
    body += line(kLeft, at_y(y), kLeft + width, at_y(y), "#ddd", 1);
    body += text_at(kLeft - 6, at_y(y) + 4, fmt::format("{:g}", y), "end");
  }
  for (const LineChart::Tick& tick : chart.x_ticks) {
    body += line(at_x(tick.at), kTop + kHeight, at_x(tick.at), kTop + kHeight + 5, "#444", 1);
    body += text_at(at_x(tick.at), kTop + kHeight + 18, tick.text, "middle");
  }
  body += text_at(kLeft + width / 2, kTop + kHeight + 38, chart.x_title, "middle");
  body += text_at(kLeft, kTop - 8, chart.y_title);
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const LineChart::Series& series = chart.series[i];
    std::string points;
    for (const auto& [x, y] : series.points) points += fmt::format("{:.1f},{:.1f} ", at_x(x), at_y(y));
    body += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, color(i));
    for (const auto& [x, y] : series.points)
      body += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", at_x(x), at_y(y), color(i));
    double row = kTop + 14 + 20 * static_cast<double>(i);
    body += rectangle(kLeft + width + 20, row - 9, 12, 10, color(i));
    body += text_at(kLeft + width + 38, row, series.name);
  }
  return titled(chart.title, body);
}

}  // namespace

std::string draw(const LineChart& chart) {
  return document(kLineChartHeight, lines_of(chart));
}

std::string draw(const std::vector<LineChart>& charts) {
  std::string body;
  for (size_t i = 0; i < charts.size(); ++i)
    body += fmt::format("<g transform=\"translate(0,{:.0f})\">\n{}</g>\n", kLineChartHeight * static_cast<double>(i), lines_of(charts[i]));
  return document(kLineChartHeight * static_cast<double>(charts.size()), body);
}

}  // namespace pistachio
