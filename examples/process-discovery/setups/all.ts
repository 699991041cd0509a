/** The four set-ups, in the order of the table. */
import { duo } from './duo.ts'
import { manager } from './manager.ts'
import { monolithic } from './monolithic.ts'
import type { ModelOf, Setup } from './setup.ts'
import { team } from './team.ts'

export const setupsOf = (modelOf: ModelOf): readonly Setup[] =>
  [monolithic, duo, manager, team].map((make) => make(modelOf))
