/** The corpus: every input that is played. */
import { appends } from './rows/appends.ts'
import { audits } from './rows/audits.ts'
import { calls } from './rows/calls.ts'
import { definitions } from './rows/definitions.ts'
import { discovery } from './rows/discovery.ts'
import { evidences } from './rows/evidence.ts'
import { failures } from './rows/failures.ts'
import { importing } from './rows/imports.ts'
import { ingests } from './rows/ingests.ts'
import { knowing } from './rows/knowledge.ts'
import { remembering } from './rows/memory.ts'
import { plans } from './rows/plans.ts'
import { guardrailsRows } from './rows/guardrails.ts'
import { hooksRows } from './rows/hooks.ts'
import { reflection } from './rows/reflection.ts'
import { pages } from './rows/pages.ts'
import { mcpRows } from './rows/mcp.ts'
import { remotes } from './rows/remotes.ts'
import { replies } from './rows/replies.ts'
import { servers } from './rows/server.ts'
import { texts } from './rows/texts.ts'
import { tools } from './rows/tools.ts'
import type { Row } from './support/row.ts'

export const rows: readonly Row[] = [
  ...texts,
  ...replies,
  ...remotes,
  ...tools,
  ...failures,
  ...servers,
  ...calls,
  ...evidences,
  ...discovery,
  ...definitions,
  ...pages,
  ...importing,
  ...audits,
  ...appends,
  ...knowing,
  ...plans,
  ...reflection,
  ...guardrailsRows,
  ...hooksRows,
  ...ingests,
  ...remembering,
  ...mcpRows,
]
