#include "base/fault_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace pistachio {
namespace {

std::string refusal_of(std::string_view text) {
  try {
    FaultPlan::check(text);
  } catch (const UserError& error) {
    return error.message();
  }
  return "";
}

TEST(FaultPlanTest, EmptyPlanDoesNothing) {
  FaultPlan none;
  FaultPlan empty("", 1, {});
  for (int point = 0; point <= static_cast<int>(FaultPoint::CancelReceived); ++point) {
    none.reach(static_cast<FaultPoint>(point));
    empty.reach(static_cast<FaultPoint>(point));
  }
}

TEST(FaultPlanTest, FiresOnceAtNthPassOnItsRank) {
  FaultPlan plan("scan_chunk:1:3=nomemory", 1, {});
  plan.reach(FaultPoint::ProbeChunk);
  plan.reach(FaultPoint::ScanChunk);
  plan.reach(FaultPoint::ScanChunk);
  EXPECT_THROW(plan.reach(FaultPoint::ScanChunk), OutOfMemory);
  plan.reach(FaultPoint::ScanChunk);
  FaultPlan of_another("scan_chunk:1:3=nomemory", 2, {});
  for (int i = 0; i < 5; ++i) of_another.reach(FaultPoint::ScanChunk);
  FaultPlan of_all("rows_sent=nospace", 7, {});
  EXPECT_THROW(of_all.reach(FaultPoint::RowsSent), UserError);
}

TEST(FaultPlanTest, CutCallsTheOwner) {
  int cuts = 0;
  FaultPlan plan("end_sent=cut", 0, [&] { ++cuts; });
  plan.reach(FaultPoint::EndSent);
  plan.reach(FaultPoint::EndSent);
  EXPECT_EQ(cuts, 1);
}

TEST(FaultPlanTest, EveryPointHasAName) {
  std::vector<std::string_view> names = FaultPlan::point_names();
  EXPECT_EQ(names.size(), static_cast<size_t>(FaultPoint::CancelReceived));
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
}

TEST(FaultPlanTest, WrongTextsAreExplained) {
  EXPECT_EQ(refusal_of(""), "");
  EXPECT_EQ(refusal_of("plan_sent:2:1=delay"), "");
  EXPECT_NE(refusal_of("nowhere=kill").find("'nowhere' is not a known point; there are plan_sent, "), std::string::npos);
  EXPECT_NE(refusal_of("plan_sent=explode").find("'explode' is not a known action; there are kill, stop, cut"), std::string::npos);
  for (const char* text : {"plan_sent", "plan_sent=kill=kill", "plan_sent:1:1:1=kill"})
    EXPECT_NE(refusal_of(text).find("POINT[:RANK][:NTH]=ACTION"), std::string::npos) << text;
  for (const char* text : {"plan_sent:x=kill", "plan_sent:-1=kill", "plan_sent:1:0=kill", "plan_sent:1:=kill"})
    EXPECT_NE(refusal_of(text).find("RANK is a number"), std::string::npos) << text;
}

}  // namespace
}  // namespace pistachio
