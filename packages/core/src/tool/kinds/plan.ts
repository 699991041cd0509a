/** `update_plan`: a model writes the steps of its work, and where each stands [F08]. Its only effect is an entry of the log. */
import { planTexts, planTool, type PlanBody, type PlanStep, stepStatuses } from '@witan/protocol/plan'
import { z } from 'zod'
import { failed, result } from '../outcome.ts'
import { issueWords } from '../questions.ts'
import { refused } from '../schema.ts'
import type { ArgumentCheck, ImmediateTool, ToolSource } from '../tool.ts'
import type { Scrubber } from '../../parameter/scrub.ts'

const controls = /[\p{Cc}\u2028\u2029]/u
const controlsButBreaks = /(?![\n\t])\p{Cc}/u

const line = (most: number) =>
  z
    .string()
    .max(most)
    .refine((text) => text.trim() !== '', 'must not be empty')
    .refine((text) => !controls.test(text), 'must be one line without control characters')
const words = (most: number) =>
  z
    .string()
    .max(most)
    .refine((text) => !controlsButBreaks.test(text), 'must have no control characters')

const stepSchema = z.object({
  id: line(planTexts.id),
  title: line(planTexts.title),
  status: z.enum(stepStatuses),
  note: words(planTexts.note).optional(),
})
const reasonSchema = words(planTexts.reason).optional()

const description =
  'Keeps the plan of your work, which people see: write its steps before a long task, and again whenever one begins, ends or changes. ' +
  'The list replaces the one before. At most one step is in_progress; what you call meanwhile belongs to it.'

const texts = (most: number) => ({ type: 'string', maxLength: most })
const step = {
  type: 'object',
  properties: {
    id: { ...texts(planTexts.id), description: 'Keep it for as long as it is the same step.' },
    title: texts(planTexts.title),
    status: { type: 'string', enum: stepStatuses },
    note: texts(planTexts.note),
  },
  required: ['id', 'title', 'status'],
  additionalProperties: false,
}

/** One tool for all agents whose plans may have that many steps. */
const made = new Map<number, readonly ImmediateTool[]>()

/** `update_plan`, for agents that plan. */
export const planTools: ToolSource = ({ agent }) => {
  if (!agent.enablePlanning) return []
  const { maxPlanSteps } = agent.limits
  const known = made.get(maxPlanSteps) ?? [toolOf(maxPlanSteps)]
  made.set(maxPlanSteps, known)
  return known
}

function toolOf(maxSteps: number): ImmediateTool {
  const steps = { type: 'array', items: step, maxItems: maxSteps }
  const parameters = Object.freeze({
    type: 'object',
    properties: { steps, reason: { ...texts(planTexts.reason), description: 'Why the plan changes.' } },
    required: ['steps'],
    additionalProperties: false,
  })
  return Object.freeze({
    name: planTool,
    kind: 'plan',
    offer: { name: planTool, description, parameters },
    notice: null,
    effect: 'none',
    bound: [],
    immediate: true,
    check: (args) => checkPlan(args, maxSteps),
    invoke: ({ arguments: args }, { agent, plan, scrub }) => {
      const { revision, revisions } = plan()
      const most = agent.limits.maxPlanRevisions
      if (revisions >= most)
        return failed(
          'PLAN_LIMIT',
          `${revisions} of ${most} revisions of the plan are used. It stays as it is: go on with it.`,
        )
      const body = scrubbedPlan({ ...(args as Pick<PlanBody, 'steps' | 'reason'>), revision: revision + 1 }, scrub)
      return { ...result({ revision: body.revision }), entries: [{ type: 'plan', kind: null, body }] }
    },
  } satisfies ImmediateTool)
}

const argumentsSchema = z.strictObject({ steps: z.array(stepSchema), reason: reasonSchema })

/** A list that is too long is read no further. */
function checkPlan(args: Readonly<Record<string, unknown>>, maxSteps: number): ArgumentCheck {
  const { steps: given } = args
  if (Array.isArray(given) && given.length > maxSteps)
    return refused([`\`steps\`: expected at most ${maxSteps}, got ${given.length}`])
  const read = argumentsSchema.safeParse(args)
  if (!read.success) return refused(issueWords(read.error))
  const { steps, reason } = read.data
  const issues = [
    ...[...twice(steps)].map((id) => `two steps have the id \`${id}\``),
    ...(steps.filter(({ status }) => status === 'in_progress').length > 1 ? ['only one step may be in_progress'] : []),
  ]
  return issues.length === 0 ? { ok: true, arguments: { steps, reason } } : refused(issues)
}

/** The ids that several steps have. */
function twice(steps: readonly PlanStep[]): Set<string> {
  const seen = new Set<string>()
  return new Set(steps.flatMap(({ id }) => (seen.size === seen.add(id).size ? [id] : [])))
}

/** A plan without what its agent may not see [D15]. */
function scrubbedPlan({ revision, steps, reason }: PlanBody, scrub: Scrubber): PlanBody {
  if (scrub === null) return reason === undefined ? { revision, steps } : { revision, steps, reason }
  const clean = (text: string, most: number) => scrub(text).slice(0, most).toWellFormed()
  return {
    revision,
    steps: steps.map(({ id, title, status, note }) => ({
      ...{ id: clean(id, planTexts.id), title: clean(title, planTexts.title), status },
      ...(note === undefined ? {} : { note: clean(note, planTexts.note) }),
    })),
    ...(reason === undefined ? {} : { reason: clean(reason, planTexts.reason) }),
  }
}
