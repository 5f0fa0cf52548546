// CaseSpace: objects.
#include <algorithm>
#include <map>
#include <set>

#include "constraints/schema/case_space.h"

namespace adjudge::schema {
namespace {

constexpr std::size_t kMaxOpen = 16;

Truth Both(Truth a, Truth b) {
  if (a == Truth::kNo || b == Truth::kNo) return Truth::kNo;
  return a == Truth::kOpen || b == Truth::kOpen ? Truth::kOpen : Truth::kYes;
}

}  // namespace

const ObjectPlan* CaseSpace::Plan(CaseId id) {
  if (const auto known = plans_.find(id); known != plans_.end()) return &known->second;
  const ObjectCase object = std::get<ObjectCase>(case_of(id));
  ObjectPlan plan;
  BuildPlan(object, plan);
  if (Stopped()) return nullptr;
  text_bytes_ += sizeof(ObjectPlan) + plan.slots.size() * (sizeof(ObjectPlan::Slot) + 80);
  return &plans_.emplace(id, std::move(plan)).first->second;
}

void CaseSpace::BuildPlan(const ObjectCase& object, ObjectPlan& plan) {
  plan.least = object.least;
  plan.most = object.most;
  std::map<std::string, std::int32_t> order;
  const auto mention = [&](NameSetId id) {
    for (const std::string& name : formulas_.name_set(id).names) {
      order.try_emplace(name, static_cast<std::int32_t>(order.size()));
    }
  };
  for (const auto& [names, value] : object.all) mention(names);
  for (const auto& [names, value] : object.some) mention(names);
  for (const auto& [name, place] : order) {
    ObjectPlan::Slot slot;
    slot.name = name;
    slot.order = place;
    plan.slots.push_back(std::move(slot));
    plan.names.push_back(name);
  }
  const auto slot_of = [&](const std::string& name) {
    const auto at = std::lower_bound(plan.names.begin(), plan.names.end(), name);
    return static_cast<std::size_t>(at - plan.names.begin());
  };
  std::vector<std::vector<FormulaId>> values(plan.slots.size());
  std::vector<std::pair<NameSetId, FormulaId>> wide;
  for (const auto& pair : object.all) {
    const NameSet& set = formulas_.name_set(pair.first);
    if (set.is_single()) {
      values[slot_of(set.names[0])].push_back(pair.second);
    } else {
      wide.push_back(pair);
    }
  }
  for (const auto& [id, value] : wide) {
    const NameSet set = formulas_.name_set(id);
    for (std::size_t i = 0; i < plan.slots.size(); ++i) {
      if (Matches(set, plan.slots[i].name)) values[i].push_back(value);
    }
  }
  std::vector<std::pair<NameSetId, FormulaId>> open;
  for (const auto& [id, value] : object.some) {
    const NameSet& set = formulas_.name_set(id);
    if (!set.is_single()) {
      open.emplace_back(id, value);
      continue;
    }
    const std::size_t slot = slot_of(set.names[0]);
    plan.slots[slot].required = true;
    values[slot].push_back(value);
  }
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    plan.slots[i].value = formulas_.And(std::move(values[i]));
    if (plan.slots[i].required) plan.required.push_back(static_cast<std::int32_t>(i));
  }
  // "Some member at all of these names", where one of them is required anyway.
  open.erase(std::remove_if(open.begin(), open.end(),
                            [&](const auto& pair) {
                              const NameSet& set = formulas_.name_set(pair.first);
                              return std::any_of(
                                  plan.required.begin(), plan.required.end(), [&](std::int32_t i) {
                                    const auto& slot = plan.slots[static_cast<std::size_t>(i)];
                                    return (pair.second == FormulaPool::kTrueId ||
                                            pair.second == slot.value) &&
                                           Matches(set, slot.name);
                                  });
                            }),
             open.end());
  if (open.size() > kMaxOpen) {
    SetError(
        {ErrorCode::kLimit,
         "more than " + std::to_string(kMaxOpen) + " members of unnamed keys are asked for at once",
         "/"});
    return;
  }
  for (std::size_t j = 0; j < open.size(); ++j) {
    plan.some.push_back(open[j].second);
    const NameSet& set = formulas_.name_set(open[j].first);
    for (auto& slot : plan.slots) {
      if (Matches(set, slot.name)) slot.some |= 1U << j;
    }
  }
  plan.by_order.resize(plan.slots.size());
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    plan.by_order[static_cast<std::size_t>(plan.slots[i].order)] = static_cast<std::int32_t>(i);
  }
  BuildOthers(object, plan, open);
}

void CaseSpace::BuildOthers(const ObjectCase& object, ObjectPlan& plan,
                            const std::vector<std::pair<NameSetId, FormulaId>>& open) {
  std::vector<LanguageId> languages;
  const auto collect = [&](const std::vector<std::pair<NameSetId, FormulaId>>& pairs) {
    for (const auto& [id, value] : pairs) {
      const auto& more = formulas_.name_set(id).languages;
      languages.insert(languages.end(), more.begin(), more.end());
    }
  };
  collect(object.all);
  collect(open);
  std::sort(languages.begin(), languages.end());
  languages.erase(std::unique(languages.begin(), languages.end()), languages.end());
  // What holds for a name that is no slot's, by the languages that it belongs to.
  const auto add = [&](LanguageId language, const std::vector<bool>& in) {
    const auto matches = [&](NameSetId id) {
      const NameSet& set = formulas_.name_set(id);
      const bool inside = std::any_of(set.languages.begin(), set.languages.end(), [&](auto l) {
        const auto at = std::lower_bound(languages.begin(), languages.end(), l);
        return in[static_cast<std::size_t>(at - languages.begin())];
      });
      return inside != set.negated;
    };
    ObjectPlan::Others others;
    others.language = language;
    std::vector<FormulaId> values;
    for (const auto& [id, value] : object.all) {
      if (!formulas_.name_set(id).is_single() && matches(id)) values.push_back(value);
    }
    others.value = formulas_.And(std::move(values));
    if (others.value == FormulaPool::kFalseId) return;
    for (std::size_t j = 0; j < open.size(); ++j) {
      if (matches(open[j].first)) others.some |= 1U << j;
    }
    const Language& texts = languages_.Get(language);
    others.infinite = texts.infinite();
    if (!others.infinite) {
      others.size = texts.Count(0, 0, kNoBound, 1'000'000);
      for (const std::string& name : plan.names) others.size -= texts.Contains(name) ? 1 : 0;
      if (others.size == 0) return;
    }
    plan.others.push_back(others);
  };
  if (languages.empty()) {
    add(LanguagePool::kAll, {});
    return;
  }
  // All languages beside each other; a class is the set of those that accept.
  using Key = std::vector<Language::State>;
  const Language& all = languages_.Get(LanguagePool::kAll);
  std::map<Key, Language::State> ids;
  std::vector<Key> work;
  Language::Table table;
  std::map<std::vector<bool>, std::vector<std::size_t>> classes;
  const auto id = [&](Key key) {
    const auto [at, fresh] = ids.try_emplace(key, static_cast<Language::State>(ids.size()));
    if (fresh) work.push_back(std::move(key));
    return at->second;
  };
  Key start{0};
  for (const LanguageId language : languages) start.push_back(languages_.Get(language).start());
  id(start);
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work.size() > limits_.max_states) {
      SetError({ErrorCode::kLimit,
                "the automaton of the patterns of an object's keys needs more "
                "than max_states = " +
                    std::to_string(limits_.max_states),
                "/"});
      return;
    }
    const Key key = work[i];
    if (!Spend(64)) return;
    std::array<Language::State, 256> row;
    row.fill(Language::kNone);
    std::map<Key, Language::State> targets;
    for (int b = 0; b < 256; ++b) {
      const auto byte = static_cast<std::uint8_t>(b);
      Key to{all.Next(key[0], byte)};
      if (to[0] == Language::kNone) continue;
      for (std::size_t l = 0; l < languages.size(); ++l) {
        const Language& language = languages_.Get(languages[l]);
        to.push_back(key[l + 1] == Language::kNone ? Language::kNone
                                                   : language.Next(key[l + 1], byte));
      }
      const auto [at, fresh] = targets.try_emplace(to, 0);
      if (fresh) at->second = id(to);
      row[byte] = at->second;
    }
    table.next.push_back(row);
    if (all.Accepts(key[0])) {
      std::vector<bool> in;
      for (std::size_t l = 0; l < languages.size(); ++l) {
        in.push_back(key[l + 1] != Language::kNone &&
                     languages_.Get(languages[l]).Accepts(key[l + 1]));
      }
      classes[in].push_back(i);
    }
  }
  for (const auto& [in, states] : classes) {
    table.accepts.assign(table.next.size(), false);
    for (const std::size_t q : states) table.accepts[q] = true;
    add(languages_.Add(Language::FromTable(table)), in);
  }
}

Truth CaseSpace::Completable(const ObjectPlan& plan, const std::vector<bool>& used,
                             std::uint32_t met, std::uint32_t count,
                             const std::vector<std::uint32_t>& taken, std::int32_t from_order) {
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << plan.some.size()) - 1);
  Assignment assignment{plan, used, count, taken, from_order, {}, {}};
  return Assign(assignment, all & ~met);
}

Truth CaseSpace::Assign(Assignment& so_far, std::uint32_t open) {
  if (open == 0) return CheckAssignment(so_far);
  if (!Spend(16)) return Truth::kNo;
  std::uint32_t j = 0;
  while ((open >> j & 1U) == 0) ++j;
  const std::uint32_t rest = open & ~(1U << j);
  const FormulaId wanted = so_far.plan.some[j];
  Truth truth = Truth::kNo;
  const auto consider = [&](FormulaId value) {
    const Truth possible = Satisfiable(value);
    if (possible == Truth::kNo) return false;
    const Truth found = Both(possible, Assign(so_far, rest));
    if (found != Truth::kNo) truth = found == Truth::kYes ? found : Truth::kOpen;
    return truth == Truth::kYes;
  };
  for (std::size_t c = 0; c < so_far.plan.others.size(); ++c) {
    const ObjectPlan::Others& others = so_far.plan.others[c];
    if ((others.some >> j & 1U) == 0) continue;
    for (std::size_t f = 0; f < so_far.fresh.size(); ++f) {
      if (so_far.fresh[f].first != static_cast<std::int32_t>(c)) continue;
      const FormulaId before = so_far.fresh[f].second;
      so_far.fresh[f].second = formulas_.And(before, wanted);
      if (consider(formulas_.And(others.value, so_far.fresh[f].second))) return truth;
      so_far.fresh[f].second = before;
    }
    so_far.fresh.emplace_back(static_cast<std::int32_t>(c), wanted);
    if (consider(formulas_.And(others.value, wanted))) return truth;
    so_far.fresh.pop_back();
  }
  for (std::size_t s = 0; s < so_far.plan.slots.size(); ++s) {
    const ObjectPlan::Slot& slot = so_far.plan.slots[s];
    if ((slot.some >> j & 1U) == 0 || so_far.used[s] || slot.order < so_far.from_order) continue;
    const auto at = so_far.slots.find(static_cast<std::int32_t>(s));
    const bool had = at != so_far.slots.end();
    const FormulaId before = had ? at->second : FormulaPool::kTrueId;
    so_far.slots[static_cast<std::int32_t>(s)] = formulas_.And(before, wanted);
    if (consider(formulas_.And({slot.value, before, wanted}))) return truth;
    if (had) {
      so_far.slots[static_cast<std::int32_t>(s)] = before;
    } else {
      so_far.slots.erase(static_cast<std::int32_t>(s));
    }
  }
  return truth;
}

Truth CaseSpace::CheckAssignment(const Assignment& done) {
  const ObjectPlan& plan = done.plan;
  Truth truth = Truth::kYes;
  std::uint64_t count = done.count + done.fresh.size();
  for (const std::int32_t s : plan.required) {
    const auto at = static_cast<std::size_t>(s);
    if (done.used[at]) continue;
    if (plan.slots[at].order < done.from_order) return Truth::kNo;
    ++count;
    if (done.slots.count(s) > 0) continue;  // asked already
    truth = Both(truth, Satisfiable(plan.slots[at].value));
    if (truth == Truth::kNo) return truth;
  }
  for (const auto& [s, value] : done.slots) {
    if (!plan.slots[static_cast<std::size_t>(s)].required) ++count;
  }
  if (count > plan.most) return Truth::kNo;
  std::vector<std::uint64_t> taken(done.taken.begin(), done.taken.end());
  for (const auto& [c, value] : done.fresh) ++taken[static_cast<std::size_t>(c)];
  std::uint64_t room = 0;
  Truth room_truth = Truth::kYes;
  for (std::size_t c = 0; c < plan.others.size(); ++c) {
    const ObjectPlan::Others& others = plan.others[c];
    if (!others.infinite && taken[c] > others.size) return Truth::kNo;
    if (count + room >= plan.least) continue;
    const Truth possible = Satisfiable(others.value);
    if (possible == Truth::kNo) continue;
    room_truth = Both(room_truth, possible);
    room += others.infinite ? plan.least : others.size - taken[c];
  }
  for (std::size_t s = 0; s < plan.slots.size() && count + room < plan.least; ++s) {
    const ObjectPlan::Slot& slot = plan.slots[s];
    if (slot.required || done.used[s] || slot.order < done.from_order ||
        done.slots.count(static_cast<std::int32_t>(s)) > 0) {
      continue;
    }
    const Truth possible = Satisfiable(slot.value);
    if (possible == Truth::kNo) continue;
    room_truth = Both(room_truth, possible);
    ++room;
  }
  if (count + room < plan.least) return Truth::kNo;
  return Both(truth, room_truth);
}

}  // namespace adjudge::schema
