/** Turns `--param k=v` and `--hide k` into the parameters of a conversation, by the types that the agents declare. */
import type { Client } from '@witan/client'
import { type GivenParameter, isWitanError, type ParameterType, type ParameterValue } from '@witan/protocol'
import { parseExact } from '@witan/protocol/digits'
import { fitsType } from '@witan/protocol/schemas'
import { readParameterWords } from './arguments.ts'
import type { Given, Option } from './command.ts'
import { UsageError } from './exit.ts'

/** The options that name parameters. */
export const parameterOptions: Readonly<Record<string, Option>> = {
  param: { value: 'NAME=VALUE', multiple: true, help: 'A parameter; may be repeated.' },
  hide: { value: 'NAME', multiple: true, help: 'Hide that parameter from every model.' },
}

type Types = ReadonlyMap<string, ParameterType>

/** The parameters that were given; asks the server for their types only if there are any. */
export async function readParameters(
  given: Given,
  agent: string,
  client: Client,
): Promise<Record<string, GivenParameter>> {
  const words = given.texts('param').map(readParameterWords)
  const hidden = given.texts('hide')
  const stray = hidden.find((name) => !words.some((word) => word.name === name))
  if (stray !== undefined) throw new UsageError(`--hide ${stray} names no --param.`, `Add --param ${stray}=VALUE.`)
  if (words.length === 0) return {}
  const types = await readTypes(agent, client)
  const entries = words.map(({ name, value }): [string, GivenParameter] => {
    const bare = toValue(value, types.get(name))
    return [name, hidden.includes(name) ? { value: bare, sendToModel: false } : bare]
  })
  return Object.fromEntries(entries)
}

/** Text stays text where the type is `string`; else JSON is read, and what is no JSON, or of another type, stays text for the server to judge. */
export function toValue(text: string, type: ParameterType | undefined): ParameterValue {
  if (type === 'string') return text
  if (type === undefined) return text
  const value = fromJson(text)
  if (fitsType(type, value)) return value
  const list = text.split(',').map((item) => item.trim())
  const read = type === 'string[]' ? list : list.map(fromJson)
  return type.endsWith('[]') && fitsType(type, read) ? read : text
}

/** A name has one type in a hierarchy, whichever agent declares it. Who may only call the agent reads that one alone. */
async function readTypes(agent: string, client: Client): Promise<Types> {
  const graph = await client.agents.graph(agent).catch((error: unknown) => {
    if (isWitanError(error) && error.code === 'NOT_FOUND') return { nodes: [{ id: agent, kind: 'agent' }] }
    throw error
  })
  const agents = await Promise.all(
    graph.nodes.filter(({ kind }) => kind === 'agent').map(({ id }) => client.agents.get(id)),
  )
  return new Map(agents.flatMap((one) => one.parameters.map(({ name, type }) => [name, type] as const)))
}

function fromJson(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return text
  }
}
