/** Why a call waits for its approval, in words: the conditions that its agent sets for the tool. */
import type { Client } from '@witan/client'
import type { Interruption } from '@witan/protocol'
import { compact } from './tree/phrase.ts'

/** The conditions of the tool, as its agent stands now; null where every call waits, and where the agent cannot be read. */
export async function conditionOf(client: Client, open: Interruption): Promise<string | null> {
  if (open.kind !== 'approval') return null
  const agent = await client.agents.get(open.agent).catch(() => null)
  const own = agent?.approvals.filter((one) => (typeof one === 'string' ? one : one.tool) === open.tool) ?? []
  const conditions = own.flatMap((one) => (typeof one === 'string' ? [] : [one.when]))
  if (conditions.length === 0 || conditions.length < own.length) return null
  return conditions.map((when) => (when === 'code' ? 'the program says so' : conditionPhrase(when))).join('; or ')
}

type Fields = Readonly<Record<string, unknown>>

/** `price ≥ 500`: a JSON Schema of arguments in words, or as it is written where it says more than these can. */
export function conditionPhrase(schema: unknown): string {
  if (!isRecord(schema)) return compact(schema)
  const { properties = {}, required = [], type = 'object', ...others } = schema
  const isPlain = isRecord(properties) && Array.isArray(required) && type === 'object'
  if (!isPlain || Object.keys(others).length > 0) return compact(schema)
  const names = [...new Set([...Object.keys(properties), ...required.map(String)])]
  const phrases = names.map((name) => propertyPhrase(name, properties[name] ?? {}, required.includes(name)))
  return phrases.length === 0 || phrases.includes(null) ? compact(schema) : phrases.join(' and ')
}

/** Null for what these words cannot say. A property that is not required fits also where it is missing. */
function propertyPhrase(name: string, schema: unknown, isRequired: boolean): string | null {
  if (!isRecord(schema)) return null
  const { type: _type, ...rules } = schema
  const parts = Object.entries(rules).map(([rule, value]) => {
    const sign = signs[rule]
    return sign === undefined
      ? null
      : `${name} ${sign} ${typeof value === 'string' ? JSON.stringify(value) : compact(value)}`
  })
  if (parts.includes(null)) return null
  if (parts.length === 0) return isRequired ? `${name} is given` : null
  return isRequired ? parts.join(' and ') : `(${parts.join(' and ')}, or no ${name})`
}

const signs: Readonly<Record<string, string>> = {
  minimum: '≥',
  maximum: '≤',
  exclusiveMinimum: '>',
  exclusiveMaximum: '<',
  const: '=',
  enum: 'is one of',
  pattern: 'matches',
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
