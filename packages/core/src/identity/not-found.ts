/** The error for what does not exist. What belongs to somebody else gets the same text. */
import { WitanError } from '@witan/protocol'

/** Hints for finding the right id. */
const hints = {
  agent: 'GET /api/v1/agents lists the agents.',
  artifact: 'GET /api/v1/conversations/{id}/artifacts lists those of a conversation.',
  conversation: 'GET /api/v1/conversations lists them.',
  document: 'It may have been deleted, or belong to somebody else.',
  file: 'A document shows the files of its messages, with their digests.',
  interruption: 'GET /api/v1/interruptions lists the open ones.',
  key: 'GET /api/v1/keys lists the keys.',
  entry: 'GET the conversation for its last seq.',
  'MCP server': 'GET /api/v1/mcp/servers lists them.',
  'knowledge base': 'GET /api/v1/knowledge lists the knowledge bases.',
  'knowledge document': 'GET /api/v1/knowledge/{id}/documents lists them.',
  ingest: 'The answer to POST /api/v1/knowledge/{id}/documents names it; an ended one is kept for a day.',
  memory: 'You reach what agents remember of you alone, or all with the role `admin`.',
  'memory block': 'GET /api/v1/memory lists the blocks.',
  'model call': 'GET /api/v1/conversations/{id}/model-calls lists them.',
  path: 'POST /api/v1/check lists the paths in its `matrix`.',
  participant: 'GET the participants of the conversation for those who take part.',
  protocol: 'GET /api/v1/protocols lists the protocols.',
  revision: 'GET the revisions lists them.',
  run: 'GET the conversation for its runs.',
  tool: 'GET the tools of the agent lists them.',
  task: 'GET /api/v1/tasks lists them.',
} as const

/** The error for a method that the principal does not reach, where nothing is named by an id. */
export function nothingHere(): WitanError {
  return new WitanError('NOT_FOUND', 'There is nothing here.', { hint: 'You may need another role.' })
}

interface About {
  readonly path?: string
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** A `NOT_FOUND` error. `path`: the field with the id; `hint`: a better next step than the list; `details`: for the program only. */
export function notFound(
  kind: keyof typeof hints,
  id: string,
  { path, hint = hints[kind], details }: About = {},
): WitanError {
  return new WitanError('NOT_FOUND', `There is no ${kind} \`${id.slice(0, 200)}\`.`, {
    ...(path === undefined ? {} : { path }),
    ...(details === undefined ? {} : { details }),
    hint,
  })
}
