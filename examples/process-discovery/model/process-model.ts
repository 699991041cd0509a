/** A process model: who does what, in which order, on which condition. Small enough for a model to write. */
import { z } from 'zod'

const id = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,39}$/)
const text = z.string().min(1).max(200)

const processModelSchema = z.strictObject({
  process: text,
  lanes: z.array(text).max(30),
  events: z.array(z.strictObject({ id, kind: z.enum(['start', 'end']), name: text })).max(30),
  activities: z.array(z.strictObject({ id, name: text, lane: text.nullable() })).max(100),
  gateways: z.array(z.strictObject({ id, kind: z.enum(['exclusive', 'parallel']) })).max(60),
  flows: z.array(z.strictObject({ from: id, to: id, condition: text.nullable().default(null) })).max(300),
})
export type ProcessModel = z.infer<typeof processModelSchema>

/** The longest text that is read: more than any model of these bounds needs. */
const longest = 200_000

/** The same as JSON Schema, for the instructions of whoever writes a model. */
export const processModelJsonSchema = (() => {
  const { $schema: _, ...schema } = z.toJSONSchema(processModelSchema, { io: 'input' })
  return schema
})()

/** A model, or what is wrong with the text. */
export function parseProcessModel(source: string): ProcessModel | { readonly problems: readonly string[] } {
  if (source.length > longest) return { problems: [`it has more than ${longest} characters`] }
  let json: unknown
  try {
    json = JSON.parse(source)
  } catch {
    return { problems: ['it is not JSON'] }
  }
  const parsed = processModelSchema.safeParse(json)
  if (parsed.success) return parsed.data
  return { problems: parsed.error.issues.slice(0, 10).map(({ path, message }) => `${path.join('.')}: ${message}`) }
}

/** The activities that can come directly after each node, with the conditions on the way, and the kinds of the gateways passed. */
interface Step {
  readonly to: string
  readonly conditions: readonly string[]
}

/** From a node over gateways to the next activities and ends. */
export function nextSteps({ gateways, flows }: ProcessModel, from: string): readonly Step[] {
  const isGateway = new Set(gateways.map((gateway) => gateway.id))
  const found = new Map<string, Step>()
  const seen = new Set<string>()
  const walk = (node: string, conditions: readonly string[]) => {
    for (const { to, condition } of flows.filter((flow) => flow.from === node)) {
      const all = condition === null ? conditions : [...conditions, condition]
      if (!isGateway.has(to)) found.set(to, { to, conditions: all })
      else if (!seen.has(to)) {
        seen.add(to)
        walk(to, all)
      }
    }
  }
  walk(from, [])
  return [...found.values()]
}
