// Statements of a session that return information: EXPLAIN, SHOW, DESCRIBE.
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "cluster/rank_service.h"
#include "engine/query_pipeline.h"
#include "optimizer/optimizer.h"
#include "profile/explain.h"
#include "profile/query_profile.h"
#include "session/answer_rows.h"
#include "session/ignored_result.h"
#include "session/known_names.h"
#include "session/session.h"

namespace pistachio {

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Explain& node, ResultReceiver& receiver) {
  const auto* select = std::get_if<ast::SelectStatement>(&node.statement->node);
  if (select == nullptr) throw UserError("EXPLAIN takes a query", statement->position);
  PlannedQuery planned = plan(*select->query);
  if (node.analyze) {
    IgnoredResult ignored;
    run_planned(planned, ignored, true);
  }
  const ExplainOptions shown{.profile = node.analyze ? runner_.profile().get() : nullptr,
                             .runs_on_gpu = runner_.device_for(planned.plan).is_cuda()};
  std::vector<std::vector<ScalarValue>> rows;
  if (node.format == ast::Explain::Format::Json) {
    rows.push_back({text_value(explain_json(planned.plan, shown))});
  } else {
    for (std::string& line : explain_text(planned.plan, shown)) rows.push_back({text_value(std::move(line))});
  }
  send_rows(receiver, {{"plan", TypeKind::Varchar, /*is_report=*/true}}, rows);
}

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Show& node, ResultReceiver& receiver) {
  std::vector<std::vector<ScalarValue>> rows;
  auto add = [&](std::initializer_list<std::string_view> cells) {
    std::vector<ScalarValue> row;
    for (std::string_view cell : cells) row.push_back(text_value(std::string(cell)));
    rows.push_back(std::move(row));
  };
  LogicalType text = TypeKind::Varchar;
  if (node.name == "all") {
    const Settings untouched;
    for (const SettingDescription& setting : setting_descriptions())
      add({setting.name, setting.show(settings_), setting.type, setting.show(untouched), setting.documentation});
    return send_rows(receiver, {{"name", text}, {"setting", text}, {"takes", text}, {"default", text}, {"description", text}}, rows);
  }
  if (node.name == "tables") {
    for (const std::string& name : table_names()) add({name});
    return send_rows(receiver, {{"name", text}}, rows);
  }
  if (node.name == "functions") {
    for (const FunctionFacts& facts : function_facts()) add({facts.name, facts.kind, facts.signature, facts.nulls, facts.description});
    return send_rows(receiver, {{"name", text}, {"kind", text}, {"signature", text}, {"nulls", text}, {"description", text}}, rows);
  }
  if (node.name == "rules") {
    for (const OptimizerRule& rule : optimizer_rules()) add({rule.name, rule.required ? "always" : "optional", rule.reason});
    return send_rows(receiver, {{"name", text}, {"use", text}, {"reason", text}}, rows);
  }
  if (node.name == "links") return show_links(receiver);
  if (node.name == "memory") return show_memory(receiver);
  try {
    add({show_setting(settings_, node.name)});
  } catch (const UserError& error) {
    throw UserError(error.message(), statement->position);
  }
  send_rows(receiver, {{node.name, text}}, rows);
}

void Session::show_memory(ResultReceiver& receiver) {
  std::vector<std::optional<MemoryFigures>> ranks = {memory_figures(engine_.governor(), name_of_this_host())};
  if (ranks_ != nullptr) ranks = ranks_->memory(token_, settings_);
  std::vector<std::vector<ScalarValue>> rows;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<ScalarValue> row{ScalarValue::of_integer(TypeKind::Integer, static_cast<int64_t>(rank))};
    const std::optional<MemoryFigures>& figures = ranks[rank];
    row.push_back(figures ? text_value(figures->host) : ScalarValue::null(TypeKind::Varchar));
    for (auto figure : {&MemoryFigures::used, &MemoryFigures::peak, &MemoryFigures::limit})
      row.push_back(figures ? ScalarValue::of_integer(TypeKind::BigInt, *figures.*figure) : ScalarValue::null(TypeKind::BigInt));
    rows.push_back(std::move(row));
  }
  send_rows(receiver,
            {{"rank", TypeKind::Integer},
             {"host", TypeKind::Varchar},
             {"used", TypeKind::BigInt},
             {"peak", TypeKind::BigInt},
             {"limit", TypeKind::BigInt}},
            rows);
}

namespace {

// Rounds to three significant digits, so that slow links do not show as 0.
double three_digits(double value) {
  if (value <= 0) return 0;
  double unit = std::pow(10, 2 - std::floor(std::log10(value)));
  return std::round(value * unit) / unit;
}

}  // namespace

void Session::show_links(ResultReceiver& receiver) {
  std::vector<std::vector<ScalarValue>> rows;
  if (ranks_ != nullptr) ranks_->membership().wait_for_all(token_);
  // A single rank has no links.
  std::vector<MeasuredLink> links = ranks_ == nullptr ? std::vector<MeasuredLink>() : ranks_->links().measure(token_);
  for (const MeasuredLink& link : links) {
    int64_t chosen = smallest_fast_size(link.speeds);
    for (const LinkSpeed& speed : link.speeds) {
      rows.push_back({ScalarValue::of_integer(TypeKind::Integer, link.from), ScalarValue::of_integer(TypeKind::Integer, link.to),
                      text_value(link.route), ScalarValue::of_integer(TypeKind::BigInt, speed.message_bytes),
                      ScalarValue::of_floating(TypeKind::Double, three_digits(speed.bytes_per_second / 1e9)),
                      ScalarValue::of_integer(TypeKind::Boolean, speed.message_bytes == chosen ? 1 : 0)});
    }
  }
  send_rows(receiver,
            {{"from", TypeKind::Integer},
             {"to", TypeKind::Integer},
             {"route", TypeKind::Varchar},
             {"message_bytes", TypeKind::BigInt},
             {"gb_per_second", TypeKind::Double},
             {"chosen", TypeKind::Boolean}},
            rows);
}

void Session::run(const std::shared_ptr<const ast::Statement>&, const ast::Describe& node, ResultReceiver& receiver) {
  PlannedQuery planned = plan_now(*node.query, {.token = token_});
  std::vector<std::vector<ScalarValue>> rows;
  auto left_out = planned.left_out.begin();
  for (size_t i = 0; i <= planned.columns.size(); ++i) {
    for (; left_out != planned.left_out.end() && left_out->place == i; ++left_out)
      rows.push_back({text_value(left_out->name), text_value("cannot be read: " + left_out->reason)});
    if (i == planned.columns.size()) break;
    rows.push_back({text_value(planned.columns[i].name), text_value(planned.columns[i].type.to_string())});
  }
  send_rows(receiver, {{"column_name", TypeKind::Varchar}, {"column_type", TypeKind::Varchar}}, rows);
}

}  // namespace pistachio
