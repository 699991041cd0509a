/** The desk as a configuration: its agents, their sources and knowledge bases, over the data in a folder. */
import type { RuntimeOptions } from '@witan/core'
import { councilAgent } from './agents/council.ts'
import { dataAgent } from './agents/data.ts'
import { emailsAgent } from './agents/emails.ts'
import { mainAgent } from './agents/main.ts'
import { meetingsAgent } from './agents/meetings.ts'
import { recordsAgent } from './agents/records.ts'
import { bases, researchAgent } from './agents/research.ts'
import { tasksAgent } from './agents/tasks.ts'
import { auditIn } from './audit.ts'
import type { Places } from './data/make-data.ts'
import type { ModelFor } from './model.ts'
import { anyScript } from './scripts/any.ts'

/** The configuration without a store. `desk/any` is a model for agents that are added while it runs. */
export function deskOver(
  places: Places,
  model: ModelFor,
): Required<Pick<RuntimeOptions, 'agents' | 'hooks' | 'sources' | 'knowledge' | 'models'>> {
  return {
    sources: {
      office: { kind: 'sqlite', file: places.office },
      warehouse: { kind: 'sqlite', file: places.warehouse },
    },
    knowledge: [...bases],
    hooks: [auditIn(places.audit)],
    models: { 'desk/any': model('any', anyScript) },
    agents: [
      mainAgent(model),
      emailsAgent(model, places.maildir),
      meetingsAgent(model, places.calendar),
      recordsAgent(model),
      tasksAgent(model, places.office),
      researchAgent(model),
      dataAgent(model),
      councilAgent(model),
    ],
  }
}
