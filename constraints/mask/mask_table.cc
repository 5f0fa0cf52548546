#include "constraints/mask/mask_table.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace adjudge {
namespace {

// Class masks are worth their copy from this many tokens on; fewer are walked to.
constexpr std::size_t kFewTokens = 1024;
// More than these beside a base become a mask of their own.
constexpr std::size_t kManyMore = 2048;

}  // namespace

Status MaskTable::Fill(State state, TokenMask& mask) {
  ADJUDGE_CHECK(state != Recognizer::kDead && mask.width() == index_.width());
  ADJUDGE_ASSIGN_OR_RETURN(const Entry* const entry, Find(recognizer_.MaskTwin(state), state));
  if (entry->base != nullptr) {
    std::copy(entry->base->words().begin(), entry->base->words().end(), mask.words().begin());
  } else {
    mask.clear_all();
  }
  for (const TokenId id : entry->more) mask.set(id);
  if (entry->owner != state) MendQuoted(state, mask);
  if (const TokenMask* tokens = recognizer_.Tokens(state)) {
    for (std::size_t w = 0; w < mask.words().size(); ++w) mask.words()[w] |= tokens->words()[w];
  }
  if (recognizer_.Accepts(state)) {
    for (const TokenId id : index_.tokens().stop_ids()) mask.set(id);
  }
  return recognizer_.status();
}

Result<const MaskTable::Entry*> MaskTable::Find(State twin, State state) {
  if (const auto found = entries_.find(twin); found != entries_.end()) return &found->second;
  Entry made = Make(state);
  ADJUDGE_RETURN_IF_ERROR(recognizer_.status());
  const std::size_t mask_bytes = static_cast<std::size_t>(index_.width()) / 8;
  if (made.more.size() > kManyMore) {
    auto whole = std::make_shared<TokenMask>(index_.width());
    if (made.base != nullptr) *whole = *made.base;
    for (const TokenId id : made.more) whole->set(id);
    made.base = std::move(whole);
    made.more = {};
    bytes_ += mask_bytes;
  }
  made.more.shrink_to_fit();
  bytes_ += sizeof(Entry) + 64 + made.more.size() * sizeof(TokenId);
  if (bytes_ > max_bytes_) {
    Forget();
    bytes_ = sizeof(Entry) + made.more.size() * sizeof(TokenId) + mask_bytes;
  }
  return &(entries_[twin] = std::move(made));
}

void MaskTable::Forget() {
  entries_.clear();
  rests_.clear();
}

MaskTable::Entry MaskTable::Make(State state) {
  Entry entry{.owner = state, .base = nullptr, .more = {}};
  const Recognizer::Run run = recognizer_.RunFrom(state);
  const std::uint8_t classes = VocabularyIndex::ClassesIn(run.chars);
  const bool whole = run.ends || run.room >= index_.longest();
  if (run.room > 0 && whole && index_.n_tokens(classes) >= kFewTokens) {
    MakeByClass(run, classes, entry);
  } else {
    AddWalk(index_.trie(), index_.tokens().ids(), state, entry);
  }
  return entry;
}

// What is made of the run's classes alone has its ready mask; the others are walked to.
void MaskTable::MakeByClass(const Recognizer::Run& run, std::uint8_t classes, Entry& entry) {
  if (run.room >= index_.longest()) {
    entry.base = index_.ClassMask(classes);
  } else {
    auto mask = std::make_shared<TokenMask>(index_.width());
    index_.FillClass(classes, run.room, *mask);
    entry.base = std::move(mask);
    bytes_ += static_cast<std::size_t>(index_.width()) / 8;
  }
  if (classes == VocabularyIndex::kAllClasses) {
    if (run.next != Recognizer::kDead && AddExits(run, entry)) return;
    AddWalk(index_.special(), index_.special_ids(), entry.owner, entry);
    return;
  }
  index_.trie().Walk(
      entry.owner, [this](State s, std::uint8_t byte) { return recognizer_.Next(s, byte); },
      [&](std::uint32_t string, State) { entry.more.push_back(index_.tokens().ids()[string]); },
      [&](std::uint32_t node) { return (index_.signatures_below(node) & ~classes) == 0; });
}

// Each character of the class leads to one state, so a special token is allowed where its rest is
// allowed in the state after as many characters as stand before it. False where the states' claims
// end before the longest such beginning and something is still live there.
bool MaskTable::AddExits(const Recognizer::Run& run, Entry& entry) {
  const bool loop = run.next == entry.owner ||
                    recognizer_.MaskTwin(run.next) == recognizer_.MaskTwin(entry.owner);
  State at = entry.owner;
  const std::size_t first = entry.more.size();
  for (std::uint32_t before = 0; before <= index_.longest_before(); ++before) {
    for (const std::uint32_t rest : RestsFrom(at)) {
      const auto [begin, end] = index_.exits(rest);
      for (const VocabularyIndex::Exit* exit = begin; exit != end; ++exit) {
        if (!exit->quoted && (loop || exit->before == before)) entry.more.push_back(exit->id);
      }
    }
    if (loop || before >= run.room) break;
    const Recognizer::Run here = before == 0 ? run : recognizer_.RunFrom(at);
    if (here.next == Recognizer::kDead || !(here.chars == run.chars)) {
      entry.more.resize(first);
      return false;
    }
    at = here.next;
  }
  AddWalk(index_.quoted(), index_.quoted_ids(), entry.owner, entry);
  return true;
}

void MaskTable::AddWalk(const MaskTrie& trie, const std::vector<TokenId>& ids, State state,
                        Entry& entry) {
  trie.Walk(
      state, [this](State s, std::uint8_t byte) { return recognizer_.Next(s, byte); },
      [&](std::uint32_t string, State) { entry.more.push_back(ids[string]); });
}

const std::vector<std::uint32_t>& MaskTable::RestsFrom(State state) {
  const State twin = recognizer_.MaskTwin(state);
  if (const auto found = rests_.find(twin); found != rests_.end()) return found->second;
  std::vector<std::uint32_t> allowed;
  index_.rests().Walk(
      state, [this](State s, std::uint8_t byte) { return recognizer_.Next(s, byte); },
      [&](std::uint32_t rest, State) { allowed.push_back(rest); });
  if (!recognizer_.status()) {
    static const std::vector<std::uint32_t> kNone;
    return kNone;
  }
  bytes_ += 64 + allowed.size() * sizeof(std::uint32_t);
  return rests_[twin] = std::move(allowed);
}

// The twin's mask says nothing of tokens with two quotes: they are walked from the state itself.
void MaskTable::MendQuoted(State state, TokenMask& mask) {
  for (const TokenId id : index_.quoted_ids()) mask.clear(id);
  index_.quoted().Walk(
      state, [this](State s, std::uint8_t byte) { return recognizer_.Next(s, byte); },
      [&](std::uint32_t string, State) { mask.set(index_.quoted_ids()[string]); });
}

}  // namespace adjudge
