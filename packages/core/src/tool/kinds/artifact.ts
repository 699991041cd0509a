/** `save_artifact` and `read_artifact`, for agents whose models make files and read those of others [T31]. */
import { isWitanError } from '@witan/protocol'
import { artifactIdPattern, artifactProblem } from '@witan/protocol/entries'
import { failed, returned, type ResultOutcome, result } from '../outcome.ts'
import type { ArgumentCheck, RunningTool, ToolContext, ToolSource } from '../tool.ts'

const text = (description: string) => ({ type: 'string', description })

/** What both tools share. Their only effect is an entry of the log, which a call that runs again finds: so it may be repeated. */
const common = {
  kind: 'artifact',
  notice: null,
  effect: 'none',
  bound: [],
  immediate: false,
  timeoutMs: 60_000,
} as const

const saveTool: RunningTool = {
  ...common,
  name: 'save_artifact',
  offer: {
    name: 'save_artifact',
    description:
      'Saves a text as a file of this conversation. The result has its id: name the id to whoever is to read the file.',
    parameters: Object.freeze({
      type: 'object',
      properties: {
        name: text('The name of the file, without a path, such as report.md.'),
        media_type: text('Its media type, such as text/markdown or application/json.'),
        text: text('The whole text.'),
      },
      required: ['name', 'media_type', 'text'],
      additionalProperties: false,
    }),
  },
  check: checkDraft,
  async invoke({ arguments: args }, { artifacts }) {
    const { name, media_type: mediaType, text } = args as Readonly<Record<string, string>>
    const draft = { name: String(name), mediaType: String(mediaType), text: String(text) }
    try {
      const { id, digest } = await artifacts.save(draft)
      return result({ artifact_id: id, digest })
    } catch (error) {
      return refusal(error)
    }
  },
}

const readTool: RunningTool = {
  ...common,
  name: 'read_artifact',
  offer: {
    name: 'read_artifact',
    description:
      'Reads a file of this conversation by its id: the text; of a file that is not text, its name, type and size.',
    parameters: Object.freeze({
      type: 'object',
      properties: { artifact_id: text('The id of the file, such as one that save_artifact or another agent gave.') },
      required: ['artifact_id'],
      additionalProperties: false,
    }),
  },
  check: ({ artifact_id: id }) =>
    typeof id === 'string'
      ? { ok: true, arguments: { artifact_id: id } }
      : { ok: false, issues: ['`artifact_id`: expected text'] },
  invoke: ({ arguments: args }, context) => read(String(args['artifact_id']), context),
}

/** An id that the model has not read gives the same error as one that does not exist. */
async function read(id: string, { artifacts, hasRead }: ToolContext): Promise<ResultOutcome> {
  if (!artifactIdPattern.test(id) || !hasRead(id)) return failed('NOT_FOUND', 'unknown artifact')
  try {
    const { artifact, text } = await artifacts.read(id)
    if (text !== null) return returned('read_artifact', text)
    const { name, mediaType, bytes, digest, agent } = artifact
    return result({ id, name, mediaType, bytes, digest, agent })
  } catch (error) {
    return refusal(error)
  }
}

function refusal(error: unknown): ResultOutcome {
  if (!isWitanError(error)) throw error
  return failed(error.code === 'BODY_INVALID' ? 'TOOL_ARGS_INVALID' : error.code, error.message)
}

/** Models write media types with capitals, and say that text is UTF-8, which all of it is. */
function checkDraft(args: Readonly<Record<string, unknown>>): ArgumentCheck {
  const { name, media_type: returned, text } = args
  const wrong = Object.entries({ name, media_type: returned, text }).filter(([, value]) => typeof value !== 'string')
  if (wrong.length > 0) return { ok: false, issues: wrong.map(([key]) => `\`${key}\`: expected text`) }
  const mediaType = String(returned)
    .slice(0, 200)
    .toLowerCase()
    .replace(/ *; *charset="?utf-8"? *$/, '')
  const problem = artifactProblem({ name: String(name), mediaType })
  if (problem !== null) return { ok: false, issues: [problem] }
  return { ok: true, arguments: { name, media_type: mediaType, text } }
}

const tools: readonly RunningTool[] = [Object.freeze(saveTool), Object.freeze(readTool)]

/** The tools of artifacts, for agents with `artifacts: true`. */
export const artifactTools: ToolSource = ({ agent }) => (agent.artifacts ? tools : [])
