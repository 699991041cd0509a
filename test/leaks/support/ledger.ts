/** What the corpus counts, and what it found: every case has a name, so that a failure says what leaked where. */
import assert from 'node:assert/strict'

/** The three things that must never happen. */
type Fault = 'leak' | 'override' | 'edge'

/** The counts of one family or of all of them. */
interface Totals {
  cases: number
  /** Places that were read and had to be free of a value. */
  denied: number
  /** Places that may show a value, and where it was looked for; `seen` of them did show it. */
  controls: number
  seen: number
  readonly faults: Record<Fault, number>
}

/** Collects the cases of one family. */
export interface Ledger {
  readonly family: string
  readonly totals: Totals
  readonly sinks: Set<string>
  /** A new case; what is found from here on bears its name. */
  begin(name: string): void
  /** A place that must not show what `found` names. */
  deny(fault: Fault, where: string, found: Iterable<string>): void
  /** A place that must show it, or else the case proves nothing. */
  control(where: string, holds: boolean): void
  /** Anything else that must hold in this case. */
  claim(what: string, holds: boolean): void
  /** Throws with all that was found. */
  settle(atLeast: number): void
}

const shown = 12

export function createLedger(family: string): Ledger {
  const totals: Totals = {
    cases: 0,
    denied: 0,
    controls: 0,
    seen: 0,
    faults: { leak: 0, override: 0, edge: 0 },
  }
  const sinks = new Set<string>()
  const broken: string[] = []
  let name = ''
  const blame = (what: string): void => void broken.push(`${family}: ${name}: ${what}`)
  return {
    family,
    totals,
    sinks,
    begin(next) {
      name = next
      totals.cases += 1
    },
    deny(fault, where, found) {
      totals.denied += 1
      sinks.add(where.split(' of ')[0] ?? where)
      const all = [...found]
      if (all.length === 0) return
      totals.faults[fault] += 1
      blame(`${fault} in ${where}: ${all.join(', ')}`)
    },
    control(where, holds) {
      totals.controls += 1
      if (holds) totals.seen += 1
      else blame(`vacuous: ${where} does not show what it may show`)
    },
    claim(what, holds) {
      if (!holds) blame(what)
    },
    settle(atLeast) {
      const list = broken.slice(0, shown).join('\n')
      assert.equal(broken.length, 0, `${broken.length} broken, the first of them:\n${list}`)
      assert.ok(totals.cases >= atLeast, `only ${totals.cases} cases of at least ${atLeast}`)
      assert.ok(totals.controls > 0, 'no positive control')
    },
  }
}

/** The line that stands at the end of a run of the corpus. */
export function summaryOf(ledgers: readonly Ledger[]): string {
  const faults = (fault: Fault) => ledgers.reduce((total, { totals }) => total + totals.faults[fault], 0)
  const sum = (field: Exclude<keyof Totals, 'faults'>) =>
    ledgers.reduce((total, { totals }) => total + totals[field], 0)
  const sinks = new Set(ledgers.flatMap((ledger) => [...ledger.sinks]))
  return (
    `${faults('leak')} leaks, ${faults('override')} overrides executed, ${faults('edge')} disallowed edges ` +
    `in ${sum('cases')} cases over ${sinks.size} sinks ` +
    `(${sum('denied')} looks); positive controls ${sum('seen')}/${sum('controls')}`
  )
}
