#include "network/job_identity.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"

namespace pistachio {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<JobIdentity> identity_from(const Variables& variables) {
  return job_identity([&](const char* name) -> const char* {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal_of(const Variables& variables) {
  try {
    identity_from(variables);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(JobIdentityTest, PlainProcessIsNotARank) {
  EXPECT_FALSE(identity_from({}));
  EXPECT_FALSE(identity_from({{"MASTER_ADDR", "a"}, {"LOCAL_RANK", "1"}}));
  // A shell of a Slurm allocation, and a batch script in it.
  EXPECT_FALSE(identity_from({{"SLURM_NTASKS", "4"}}));
  EXPECT_FALSE(identity_from({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}));
}

TEST(JobIdentityTest, EveryLauncherIsUnderstood) {
  Variables variables[] = {
      {{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}},
      {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
      {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}},
      {{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "1"}, {"SLURM_STEP_ID", "0"}},
  };
  for (Variables& launcher : variables) {
    launcher["MASTER_ADDR"] = "left";
    launcher["MASTER_PORT"] = "1234";
    std::optional<JobIdentity> identity = identity_from(launcher);
    ASSERT_TRUE(identity);
    EXPECT_EQ(identity->rank, 2);
    EXPECT_EQ(identity->ranks, 4);
    EXPECT_EQ(identity->local_rank, 1);
    EXPECT_EQ(identity->master_address, "left");
    EXPECT_EQ(identity->master_port, 1234);
    EXPECT_FALSE(identity->launcher_has_store);
  }
}

TEST(JobIdentityTest, TorchrunKeepsTheStore) {
  std::optional<JobIdentity> identity = identity_from({{"RANK", "0"},
                                                       {"WORLD_SIZE", "2"},
                                                       {"MASTER_ADDR", "left"},
                                                       {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                                       {"TORCHELASTIC_RESTART_COUNT", "3"}});
  EXPECT_TRUE(identity->launcher_has_store);
  EXPECT_EQ(identity->attempt, "3");
}

TEST(JobIdentityTest, InnermostLauncherWins) {
  // mpirun in a Slurm step: its daemons are the tasks that Slurm counts.
  std::optional<JobIdentity> identity = identity_from({{"OMPI_COMM_WORLD_RANK", "3"},
                                                       {"OMPI_COMM_WORLD_SIZE", "8"},
                                                       {"SLURM_PROCID", "0"},
                                                       {"SLURM_NTASKS", "2"},
                                                       {"SLURM_STEP_ID", "0"},
                                                       {"MASTER_ADDR", "left"}});
  EXPECT_EQ(identity->rank, 3);
  EXPECT_EQ(identity->ranks, 8);
}

TEST(JobIdentityTest, RefusalsNameTheVariable) {
  auto refused = [](const Variables& variables, const std::string& text) {
    EXPECT_NE(refusal_of(variables).find(text), std::string::npos) << refusal_of(variables);
  };
  refused({{"RANK", "1"}}, "RANK is set but WORLD_SIZE is not");
  refused({{"WORLD_SIZE", "2"}}, "WORLD_SIZE is set but RANK is not");
  refused({{"OMPI_COMM_WORLD_RANK", "1"}}, "OMPI_COMM_WORLD_SIZE is not");
  refused({{"RANK", "x"}, {"WORLD_SIZE", "2"}}, "RANK is 'x'; it must be a whole number from 0 to 1");
  refused({{"RANK", "2"}, {"WORLD_SIZE", "2"}}, "RANK is '2'");
  refused({{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "WORLD_SIZE is '0'");
  refused({{"RANK", "0"}, {"WORLD_SIZE", "2"}}, "MASTER_ADDR is not set");
  refused({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}}, "MASTER_PORT is '70000'");
  for (const char* rank : {"0", "1"}) {
    refused({{"RANK", rank}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "0"}}, "MASTER_PORT is 0");
  }
  refused({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "-1"}, {"MASTER_ADDR", "a"}}, "LOCAL_RANK is '-1'");
  refused({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MASTER_ADDR", "a"}}, "contradicts PMI_RANK=1");
}

TEST(JobIdentityTest, SingleRankJobNeedsNoMaster) {
  std::optional<JobIdentity> identity = identity_from({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->ranks, 1);
}

}  // namespace
}  // namespace pistachio
