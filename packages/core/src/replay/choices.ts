/** What the log leaves open, such as whether a job had read a message when it decided. Each replay makes its own choice. */

/** One choice of a replay. */
export interface Choice {
  readonly key: string
  /** The number of entries that were recorded before it. */
  readonly at: number
  readonly taken: number
  /** The number of options; 0 is the usual one. */
  readonly options: number
}

/** The choices that a replay makes, and those that it has made. */
export interface Choices {
  /** The choices that are not the usual ones, by key. */
  readonly plan: ReadonlyMap<string, number>
  readonly made: Map<string, Choice>
}

/** Choices by a plan. */
export function createChoices(plan: Choices['plan']): Choices {
  return { plan, made: new Map() }
}

/** Chooses one of `options` ways. The same key gets the same choice. */
export function choose({ plan, made }: Choices, what: string, of: Pick<Choice, 'at' | 'options'>): number {
  const key = `${what} ${of.at}`
  const taken = plan.get(key) ?? 0
  if (!made.has(key)) made.set(key, { key, ...of, taken })
  return taken
}

/** The plans that differ from a replay in one choice, the latest first. */
export function* otherPlans({ plan, made }: Choices): Generator<Choices['plan'], void, void> {
  for (const { key, taken, options, at } of [...made.values()].reverse()) {
    for (let other = 0; other < options; other += 1) {
      if (other === taken) continue
      const kept = [...plan].filter(([one]) => (made.get(one)?.at ?? Number.POSITIVE_INFINITY) <= at)
      yield new Map([...kept, [key, other]])
    }
  }
}
