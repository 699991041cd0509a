/** How a process model differs from the truth. Names are compared by their words, so a model may call things a little otherwise. */
import { nextSteps, type ProcessModel } from './process-model.ts'

/** Every fault in words, sorted: two versions of a model can be compared fault by fault. */
export function faultsOf(model: ProcessModel, truth: ProcessModel): readonly string[] {
  const names = namesIn(model, truth)
  const known = new Set(names.values())
  const missing = truth.activities.filter(({ name }) => !known.has(name)).map(({ name }) => `missing: ${name}`)
  const foreign = model.activities.filter(({ id }) => !names.has(id)).map(({ name }) => `not in the process: ${name}`)
  const lanes = model.activities.flatMap(({ id, lane }) => laneFault(names.get(id), lane, truth))
  return [
    ...missing,
    ...foreign,
    ...lanes,
    ...orderFaults(model, names, truth),
    ...concurrencyFaults(model, names, truth),
  ].sort()
}

const wordsOf = (name: string) =>
  new Set(
    name
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.filter((word) => !/^(a|an|the|of|for)$/.test(word))
      .map((word) => word.slice(0, 5)),
  )

/** Each activity of the model by the name that the truth has for it: the most alike, and never one for two. */
function namesIn(model: ProcessModel, truth: ProcessModel): ReadonlyMap<string, string> {
  const pairs = model.activities.flatMap(({ id, name }) =>
    truth.activities.map((one) => ({ id, name: one.name, likeness: likeness(wordsOf(name), wordsOf(one.name)) })),
  )
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const { id, name, likeness: enough } of pairs.sort((a, b) => b.likeness - a.likeness)) {
    if (enough < 0.5 || names.has(id) || taken.has(name)) continue
    names.set(id, name)
    taken.add(name)
  }
  return names
}

/** From 0 to 1: the share of their words that both have. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((word) => other.has(word)).length
  return common === 0 ? 0 : common / (one.size + other.size - common)
}

function laneFault(name: string | undefined, lane: string | null, truth: ProcessModel): readonly string[] {
  const right = truth.activities.find((one) => one.name === name)?.lane ?? null
  if (name === undefined || right === null || likeness(wordsOf(lane ?? ''), wordsOf(right)) >= 0.5) return []
  return [`wrong lane: ${name}`]
}

/** What directly follows what, and on which amounts of money it depends. */
function orderOf(model: ProcessModel, names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const called = new Map([...names, ...model.events.map(({ id, kind }) => [id, kind] as const)])
  const starts = model.events.filter(({ kind }) => kind === 'start')
  const order = new Map<string, string>()
  for (const { id } of [...starts, ...model.activities]) {
    for (const { to, conditions } of nextSteps(model, id)) {
      const [from, next] = [called.get(id), called.get(to)]
      if (from !== undefined && next !== undefined) order.set(`${from} → ${next}`, amountsIn(conditions))
    }
  }
  return order
}

const amountsIn = (conditions: readonly string[]) => (conditions.join(' ').match(/\d+/g) ?? []).sort().join(', ')

function orderFaults(model: ProcessModel, names: ReadonlyMap<string, string>, truth: ProcessModel): readonly string[] {
  const own = orderOf(model, names)
  const right = orderOf(truth, new Map(truth.activities.map(({ id, name }) => [id, name])))
  const known = new Set([...names.values(), 'start', 'end'])
  // An activity that is missing is one fault; the order around it is none besides.
  const missing = [...right.keys()].filter(
    (pair) => !own.has(pair) && pair.split(' → ').every((name) => known.has(name)),
  )
  const wrong = [...right].filter(([pair, amounts]) => own.has(pair) && own.get(pair) !== amounts)
  return [
    ...missing.map((pair) => `missing order: ${pair}`),
    ...[...own.keys()].filter((pair) => !right.has(pair)).map((pair) => `wrong order: ${pair}`),
    ...wrong.map(([pair]) => `wrong condition: ${pair}`),
  ]
}

/** The pairs of activities that a parallel gateway starts at once. */
function concurrentIn(model: ProcessModel, names: ReadonlyMap<string, string>): ReadonlySet<string> {
  const splits = model.gateways.filter(({ kind }) => kind === 'parallel')
  const pairs = splits.flatMap(({ id }) => {
    const next = nextSteps(model, id).flatMap(({ to }) => names.get(to) ?? [])
    return next.sort().flatMap((one, index) => next.slice(index + 1).map((other) => `${one} + ${other}`))
  })
  return new Set(pairs)
}

function concurrencyFaults(
  model: ProcessModel,
  names: ReadonlyMap<string, string>,
  truth: ProcessModel,
): readonly string[] {
  const own = concurrentIn(model, names)
  const right = concurrentIn(truth, new Map(truth.activities.map(({ id, name }) => [id, name])))
  return [
    ...[...right].filter((pair) => !own.has(pair)).map((pair) => `not at once: ${pair}`),
    ...[...own].filter((pair) => !right.has(pair)).map((pair) => `wrongly at once: ${pair}`),
  ]
}
