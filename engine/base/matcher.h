// Matcher: what the decode loop knows of a constraint.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/base/token_mask.h"

namespace adjudge {

// The state of one text under a constraint. Owned by one thread; Fork() gives an independent copy.
//
//   TokenMask mask(vocabulary.width());
//   while (!matcher->IsDone()) {
//     ADJUDGE_RETURN_IF_ERROR(matcher->FillMask(mask));  // allowed next tokens
//     TokenId token = Sample(logits, &mask);
//     matcher->Accept(token);
//   }
//
// A mask bit is set if and only if some accepted text continues with that token's bytes. The stop
// tokens' bits are set if and only if CanStop(). Padding, unused and control tokens are never set.
class Matcher {
 public:
  virtual ~Matcher() = default;

  // REQUIRES: mask.width() is the vocabulary's width. Overwrites every bit. An error (kLimit) where
  // the mask could not be found out within the constraint's limits; the mask is then empty.
  virtual Status FillMask(TokenMask& mask) = 0;
  // Moves on by one token; false (and no change) when the token is not allowed here. A stop token
  // is accepted where CanStop() and makes the matcher done.
  virtual bool Accept(TokenId token) = 0;
  // Why the last Accept gave false or the last forced text is empty, if a limit was the reason.
  virtual Status status() const { return {}; }
  // Takes back the last n accepted tokens. REQUIRES: at least n were accepted.
  virtual void Rollback(int n) = 0;
  virtual std::unique_ptr<Matcher> Fork() const = 0;

  // The bytes, and the tokens, that every accepted text must have next; empty where there is a
  // choice (stopping is a choice too).
  virtual std::string ForcedBytes() = 0;
  virtual std::vector<TokenId> ForcedTokens() = 0;

  // The text so far is accepted as it stands.
  virtual bool CanStop() const = 0;
  // A stop token was accepted, or the text is accepted and nothing can follow it.
  virtual bool IsDone() const = 0;
};

// A tree of draft tokens, parents before children: node i continues node parents[i], or the text so
// far where that is -1. masks[i] becomes the mask after node i; all of node i's ancestors, and
// itself, must be allowed for it to have any bit (a refused draft, and what hangs on it, has none).
// The matcher is afterwards where it was.
//
// REQUIRES: the three have one length, parents[i] < i, masks of the vocabulary's width.
Status FillDraftMasks(Matcher& matcher, std::span<const TokenId> tokens,
                      std::span<const int> parents, std::span<TokenMask> masks);

}  // namespace adjudge
