// The secret shared by the ranks of a job. It is never sent: ranks prove that they know it with an HMAC-SHA-256 (libsodium) over nonces.
// Ranks get it from their environment or from a private file. Immutable, thread-safe.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "network/job_identity.h"

namespace pistachio {

constexpr const char* kSecretVariable = "PISTACHIO_JOB_SECRET";
constexpr const char* kSecretFileVariable = "PISTACHIO_JOB_SECRET_FILE";

class JobSecret {
 public:
  static constexpr size_t kProofBytes = 32;
  static constexpr size_t kNonceBytes = 32;

  static JobSecret random();
  // Reads kSecretVariable, else the file named by kSecretFileVariable, which must have mode 600. Throws UserError if neither is set.
  static JobSecret from_environment(const EnvironmentLookup& environment);
  // Requires at least 32 characters. Throws UserError that names `origin`.
  static JobSecret from_text(std::string_view text, const std::string& origin);
  // Derives the key of one job from a fresh nonce.
  JobSecret for_job(std::string_view nonce) const;

  const std::string& text() const { return text_; }

  // Returns kProofBytes bytes. `purpose` separates domains; each part is hashed with its length in front.
  std::string prove(std::string_view purpose, std::initializer_list<std::string_view> parts) const;
  // Compares in constant time.
  bool is_proof(std::string_view proof, std::string_view purpose, std::initializer_list<std::string_view> parts) const;

  static std::string nonce();

 private:
  explicit JobSecret(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace pistachio
