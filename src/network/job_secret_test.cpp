#include "network/job_secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "base/error.h"

namespace pistachio {
namespace {

JobSecret secret_of(const std::map<std::string, std::string>& variables) {
  return JobSecret::from_environment([&](const char* name) -> const char* {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string error_of(const std::map<std::string, std::string>& variables) {
  try {
    secret_of(variables);
  } catch (const UserError& error) {
    return error.message();
  }
  return "";
}

TEST(JobSecretTest, ProofDependsOnSecretPurposeAndParts) {
  JobSecret secret = JobSecret::random();
  EXPECT_EQ(secret.text().size(), 64u);
  EXPECT_NE(secret.text(), JobSecret::random().text());
  std::string proof = secret.prove("greeting", {"a", "bc"});
  EXPECT_EQ(proof.size(), JobSecret::kProofBytes);
  EXPECT_TRUE(secret.is_proof(proof, "greeting", {"a", "bc"}));
  EXPECT_FALSE(secret.is_proof(proof, "greeting", {"ab", "c"}));
  EXPECT_FALSE(secret.is_proof(proof, "farewell", {"a", "bc"}));
  EXPECT_FALSE(secret.is_proof(proof.substr(1), "greeting", {"a", "bc"}));
  EXPECT_FALSE(JobSecret::random().is_proof(proof, "greeting", {"a", "bc"}));
  EXPECT_NE(secret.for_job("1").text(), secret.for_job("2").text());
  EXPECT_NE(JobSecret::nonce(), JobSecret::nonce());
}

// HMAC-SHA-256 over the parts, each preceded by its length.
TEST(JobSecretTest, IsHmacSha256) {
  JobSecret secret = JobSecret::from_text("0123456789abcdef0123456789abcdef", "test");
  // python3: hmac.new(key, struct.pack('<Q', 4) + b'test' + struct.pack('<Q', 4) + b'part', 'sha256').hexdigest()
  std::string hex;
  for (unsigned char byte : secret.prove("test", {"part"})) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    hex += text;
  }
  EXPECT_EQ(hex, "acede991f6128a8b73c39c7377ede502db4dd055cd93bce0a91ad7a660b2a0eb");
}

TEST(JobSecretTest, ReadsTheVariable) {
  EXPECT_EQ(secret_of({{kSecretVariable, " 0123456789abcdef0123456789abcdef\n"}}).text(), "0123456789abcdef0123456789abcdef");
  EXPECT_NE(error_of({{kSecretVariable, "short"}}).find("PISTACHIO_JOB_SECRET has 5 characters"), std::string::npos);
  EXPECT_NE(error_of({}).find("share no secret"), std::string::npos);
}

TEST(JobSecretTest, ReadsAPrivateFileOnly) {
  std::string path = testing::TempDir() + "pistachio_job_secret_test";
  std::ofstream(path) << "0123456789abcdef0123456789abcdef\n";
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(secret_of({{kSecretFileVariable, path}}).text(), "0123456789abcdef0123456789abcdef");
  ::chmod(path.c_str(), 0640);
  EXPECT_NE(error_of({{kSecretFileVariable, path}}).find("others can read (mode 640): chmod 600 it"), std::string::npos);
  ::chmod(path.c_str(), 0600);
  std::ofstream(path) << "short";
  EXPECT_NE(error_of({{kSecretFileVariable, path}}).find("has 5 characters"), std::string::npos);
  std::remove(path.c_str());
  EXPECT_NE(error_of({{kSecretFileVariable, path}}).find("cannot be read"), std::string::npos);
  EXPECT_NE(error_of({{kSecretFileVariable, testing::TempDir()}}).find("is not a file"), std::string::npos);
}

}  // namespace
}  // namespace pistachio
