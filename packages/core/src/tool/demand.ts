/** The form of demands: of a function tool before its effect, and of an agent before its work [C21]. */
import type { AgentData, Interruption } from '@witan/protocol'
import { z } from 'zod'
import { demandShape, maxJsonDepth } from '@witan/protocol/schemas'
import { runWithoutPause } from '../identity/pausable.ts'
import { plainCopy } from '../identity/plain.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import { scrubbedValue } from '../parameter/scrub-value.ts'
import { issueWords } from './questions.ts'
import { longestNote } from './tool.ts'

const line = z.string().trim().min(1).max(200)
const words = z.string().trim().min(1).max(10_000)

/** Only what a person can open safely: readers drop any other link. */
const link = z.string().refine((text) => {
  const url = URL.parse(text)
  return url?.protocol === 'https:' && url.username === '' && url.password === ''
}, 'must be an HTTPS URL without a user')

/** What this server itself says beside a condition, such as who demanded first, stands under keys of its own. */
const dataKey = z.string().regex(/^(?!dev\.witan\.)/, 'keys of `dev.witan` are the runtime’s own')

const demandSchema = z.strictObject({
  ...demandShape,
  code: line.optional(),
  title: line.optional(),
  message_translations: z.record(z.string(), words).optional(),
  url: link.optional(),
  action_label: line.optional(),
  retry_after_seconds: z.number().int().nonnegative().optional(),
  auth_challenges: z.array(z.unknown()).optional(),
  data: z.record(dataKey, z.unknown()).optional(),
})

/**
 * What a tool demands. `kind` is such as `payment_required` or `consent_required`, or a word of its own; `message` says it to a person in at
 * most 10,000 characters; `url` is an HTTPS address. All of it is JSON of at most 16,000 characters. `data` has keys such as `com.example.price`.
 */
export type DemandInput = z.input<typeof demandSchema>

/** The policy of a demand, as it is now, without hidden values. Throws a `TypeError` that says what is wrong, and repeats no value. */
export function checkedDemand(demand: DemandInput, scrub: Scrubber): Readonly<Record<string, unknown>> {
  const { value, isWhole, depth } = runWithoutPause(
    plainCopy(demand, { characters: longestNote, values: longestNote, isStrict: true }),
  )
  if (!isWhole || depth > maxJsonDepth)
    throw wrong([`it is JSON of at most ${longestNote} characters, nested at most ${maxJsonDepth} deep`])
  const parsed = demandSchema.safeParse(scrub === null ? value : scrubbedValue(value, scrub))
  if (parsed.success) return parsed.data
  throw wrong(issueWords(parsed.error).slice(0, 5))
}

function wrong(issues: readonly string[]): TypeError {
  return new TypeError(`This cannot be demanded: ${issues.join('; ')}.`)
}

/** What an agent demands before its work. */
export type Demand = AgentData['demands'][number]

/** The terms of an agent's demand: which callers on other servers may meet it. */
export type DemandTerms = Pick<Demand, 'of'>

/** The demands of an agent. A definition of an earlier version has no such list. */
export function demandsOf({ demands }: Partial<Pick<AgentData, 'demands'>>): readonly Demand[] {
  return demands ?? []
}

/** Whether an agent asks this for that demand. */
export function isAskedFor(asked: Interruption, { kind, message }: Demand): boolean {
  return asked.kind === 'policy' && asked.policy['kind'] === kind && asked.policy['message'] === message
}

/** The tool that is the body of a call until all is met. No model, agent or tool can have this name. */
export const demandsTool = 'agent/demands'
