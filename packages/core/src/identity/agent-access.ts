/** Who may call an agent directly, as a root, and in whose runs it may use which of its tools. */
import type { Requester } from './principal.ts'

/** Whom a list admits: `user:<id>`, `key:<id>`, an address, `role:<name>`; or a list of these that must all hold. */
type Entry = string | readonly string[]

/** The access lists of an agent. */
interface AgentAccess {
  readonly call: readonly Entry[] | null
  readonly tools?: Readonly<Record<string, readonly Entry[]>> | undefined
}

/** True if `access.call` of an agent admits a principal. Null admits everybody. */
export function mayCall({ call }: Pick<AgentAccess, 'call'>, principal: Requester): boolean {
  return call === null || admits(call, principal)
}

/** True if an agent may use the tool of that name in a run of this principal. Without a list everybody may. */
export function mayUseTool({ tools }: AgentAccess, name: string, principal: Requester): boolean {
  const entries = tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined
  return entries === undefined || admits(entries, principal)
}

function admits(entries: readonly Entry[], principal: Requester): boolean {
  return entries.some((entry) =>
    typeof entry === 'string'
      ? holds(entry, principal)
      : entry.length > 0 && entry.every((one) => holds(one, principal)),
  )
}

const roleMark = 'role:'

function holds(name: string, { id, roles }: Requester): boolean {
  return name.startsWith(roleMark) ? roles.includes(name.slice(roleMark.length)) : name === id
}
