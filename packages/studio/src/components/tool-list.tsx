/** What an agent's model can call: the kind, purpose and arguments of each tool, and which calls a person must approve. Agents are listed only if they need approval. */
import type { StoredAgent } from '@witan/protocol'
import type { AgentTool, ToolKind } from '@witan/protocol/tools'
import { type ReactNode, useState } from 'react'
import { usePrincipal } from '../state/account.ts'
import { approvalOf, approvalWords, type ToolApproval } from '../state/approval.ts'
import { peerToolsOf } from '../state/peer-tools.ts'
import { useAgents, useAgentTools, useProtocols } from '../state/queries.ts'
import { Button } from './button.tsx'
import { JsonBlock, TextBlock } from './json-block.tsx'
import { Mark } from './mark.tsx'
import { runsAlone, TryDialog } from './try-dialog.tsx'

interface Listed {
  readonly name: string
  readonly kind: ToolKind | 'tool' | 'agent'
  readonly about: string
  readonly sql?: string
  readonly schema?: unknown
  readonly marks?: readonly string[]
  readonly approval?: ToolApproval | null
}

const kinds: Readonly<Record<string, string>> = {
  query: 'Reads a database with a fixed query.',
  action: 'The application runs it; the run waits for the result.',
  function: 'A function in the server process.',
  tool: 'A function in the server process.',
  agent: 'Another agent, which works on a task.',
  subAgent: 'Another agent, which works on a task.',
  agentTool: 'Another agent, wrapped as a plain tool.',
  transfer: 'Gives control to another agent.',
  background: 'Looks after work that goes on in the background.',
  loop: 'Leaves a loop.',
  toolMode: 'Ends the mode in which its model must call tools.',
  remote: 'An agent on another server.',
  question: 'Asks a question with options; the run waits for the answer.',
  message: 'Writes to a person; the run waits for the answer.',
  peer: 'Sends a message of a protocol to another agent; the reply ends the call.',
  artifact: 'Keeps files that agents made, and reads them.',
  mcp: 'A tool of an MCP server.',
}

/** What the server offers its model, then what its definition has besides; a sentence where there is nothing. */
export function ToolList({ agent }: { readonly agent: StoredAgent }) {
  const protocols = useProtocols(agent.speaks.map(({ protocol }) => protocol)).data
  const agents = useAgents().data
  const offered = useAgentTools(agent).data ?? []
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  const [trying, setTrying] = useState<AgentTool | null>(null)
  const defined: readonly Listed[] = [
    ...toolsOf(agent),
    ...peerToolsOf(agent, { protocols: protocols ?? [], agents: agents ?? [] }),
  ]
  const own = (name: string) => defined.find((one) => one.name === name)
  const known = new Set(offered.map(({ name }) => name))
  const tools = [
    ...offered.map((tool) => ({ ...fromServer(tool, own(tool.name)), tool })),
    ...defined.filter(({ name }) => !known.has(name)).map((one) => ({ ...one, tool: null })),
  ]
  if (tools.length === 0)
    return <p className="mt-1 text-muted">It has no tools: its model can only answer, or ask other agents.</p>
  return (
    <>
      <ul aria-label="Tools" data-testid="tools" className="mt-2 border-t border-line">
        {tools.map(({ tool, ...listed }) => (
          <ToolItem key={`${listed.kind} ${listed.name}`} listed={listed}>
            {tool !== null && isAdmin && runsAlone(tool) && (
              <Button look="quiet" aria-label={`Try ${tool.name}`} onClick={() => setTrying(tool)}>
                Try
              </Button>
            )}
          </ToolItem>
        ))}
      </ul>
      {trying !== null && <TryDialog agent={agent} tool={trying} onClose={() => setTrying(null)} />}
    </>
  )
}

/** A tool as the server lists it, with what the definition says of it. */
function fromServer(tool: AgentTool, own: Listed | undefined): Listed {
  const { name, kind, description, parameters, effect, of, why } = tool
  const marks = [
    ...(effect === null ? [] : [effect === 'none' ? 'only reads' : `effect ${effect}`]),
    ...(of === null || own?.marks?.includes(`source ${of}`) === true || of === name ? [] : [`of ${of}`]),
    ...(own?.marks ?? []),
    ...(why === null ? [] : ['not offered']),
  ]
  const about = [why, description, own?.about === description ? '' : own?.about].filter((one) => one).join(' ')
  return { ...own, name, kind, about, schema: parameters, marks }
}

function ToolItem({ listed: tool, children }: { readonly listed: Listed; readonly children: ReactNode }) {
  return (
    <li className="border-b border-line py-2">
      <p className="flex flex-wrap items-center gap-1.5">
        <span className="mr-1 min-w-0 break-all font-mono">{tool.name}</span>
        <Mark title={kinds[tool.kind] ?? ''}>{tool.kind}</Mark>
        {tool.approval != null && (
          <Mark tone="wait" title={approvalWords(tool.approval)}>
            {tool.approval.every ? 'needs approval' : 'may need approval'}
          </Mark>
        )}
        {tool.marks?.map((mark) => (
          <Mark key={mark}>{mark}</Mark>
        ))}
        {children}
      </p>
      {tool.about !== '' && <p className="mt-1 break-words text-muted">{tool.about}</p>}
      {(tool.sql !== undefined || tool.schema != null) && <Details tool={tool} />}
      {tool.approval != null && !tool.approval.every && <Condition approval={tool.approval} />}
    </li>
  )
}

function Details({ tool: { sql, schema } }: { readonly tool: Listed }) {
  return (
    <details className="mt-1">
      <summary className="cursor-pointer text-xs text-accent">{sql === undefined ? 'Arguments' : 'Query'}</summary>
      <div className="mt-2 space-y-2">
        {sql !== undefined && <TextBlock label="SQL" text={sql} />}
        {schema != null && <JsonBlock label="Arguments that the model writes" value={schema} />}
      </div>
    </details>
  )
}

function Condition({ approval }: { readonly approval: ToolApproval }) {
  return (
    <details className="mt-1">
      <summary className="cursor-pointer text-xs text-accent">Approval</summary>
      <div className="mt-2 space-y-2">
        <p>{approvalWords(approval)}</p>
        {approval.schemas.map((schema) => (
          <JsonBlock key={JSON.stringify(schema)} label="A person approves calls with these arguments" value={schema} />
        ))}
      </div>
    </details>
  )
}

function toolsOf(agent: StoredAgent): readonly Listed[] {
  return callable(agent)
    .map((tool) => ({ ...tool, approval: approvalOf(agent, tool.name) }))
    .filter(({ kind, approval }) => kind !== 'agent' || approval !== null)
}

function callable(agent: StoredAgent): readonly Listed[] {
  return [
    ...agent.queries.map(
      (query): Listed => ({
        name: query.name,
        kind: 'query',
        about: query.description,
        sql: query.query,
        schema: query.parametersSchema,
        marks: [
          `source ${query.source}`,
          ...(query.addToInitialContext ? ['runs at the start'] : []),
          ...(query.allowModelQueries ? [] : ['not for the model']),
        ],
      }),
    ),
    ...agent.actions.map(
      ({ name, description, parametersSchema }): Listed => ({
        name,
        kind: 'action',
        about: description,
        schema: parametersSchema,
      }),
    ),
    ...agent.tools.map((name): Listed => ({ name, kind: 'tool', about: '' })),
    ...agent.subAgents.map(({ agent: name, description }): Listed => ({ name, kind: 'agent', about: description })),
    ...(agent.questions ? [{ name: 'ask_question', kind: 'question', about: '' } as const] : []),
    ...(agent.users.length > 0 ? askTools(agent) : []),
    ...(agent.artifacts ? artifactTools : []),
  ]
}

const artifactTools: readonly Listed[] = [
  { name: 'save_artifact', kind: 'artifact', about: 'Saves a file.' },
  { name: 'read_artifact', kind: 'artifact', about: 'Reads a file of the conversation by its id.' },
]

/** Whoever may be several people can be asked all at once. */
function askTools({ users }: StoredAgent): readonly Listed[] {
  const named = users === 'participants' ? ['the people who take part'] : users.map(nameOf)
  const people = named.join(', ')
  const one: Listed = { name: 'ask_user', kind: 'message', about: `Reaches ${people}.` }
  const isSeveral = users === 'participants' || users.length > 1 || users.some((entry) => 'role' in entry)
  if (!isSeveral) return [one]
  const about = `Asks all of them at once, where there are several: ${people}.`
  return [one, { name: 'ask_all_users', kind: 'message', about }]
}

function nameOf(one: Exclude<StoredAgent['users'], string>[number]): string {
  return 'role' in one ? `any ${one.role}` : (one.name ?? one.id)
}
