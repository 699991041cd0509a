/** Who may call an agent directly, as a root, and in whose runs it may use which of its tools. */
import { isOutside, type Requester } from './principal.ts'

/**
 * Whom a list admits: `user:<id>`, `key:<id>` or `role:<name>` of the database; an address, every address of a domain (`@*@b.test`), every
 * address (`@*`), or a caller without a credential (`anonymous`); or a list of these that must all hold.
 */
type Entry = string | readonly string[]

/** The access lists of an agent. */
interface AgentAccess {
  readonly call: readonly Entry[] | null
  readonly tools?: Readonly<Record<string, readonly Entry[]>> | undefined
}

/** True if `access.call` of an agent admits a principal. Null admits every principal of the database, and nobody from outside [C31]. */
export function mayCall({ call }: Pick<AgentAccess, 'call'>, principal: Requester): boolean {
  return call === null ? !isOutside(principal) : admits(call, principal)
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
const anyAddress = '@*'
const anyOfDomain = '@*@'

function holds(entry: string, principal: Requester): boolean {
  const { id, roles } = principal
  if (entry.startsWith(roleMark)) return !isOutside(principal) && roles.includes(entry.slice(roleMark.length))
  if (entry === id) return true
  if (!id.startsWith('@')) return false
  return entry === anyAddress || (entry.startsWith(anyOfDomain) && id.endsWith(entry.slice(anyAddress.length)))
}
