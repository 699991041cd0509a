/** Loads the files of a request that its model takes, and refuses others before anything is sent [Rb53]. */
import { fileLimits, type FileReference, isTextType } from '@witan/protocol/files'
import { takenText, takesType } from '../model/files.ts'
import type { ModelFile, ModelMessage, UserTextMessage } from '../model/message.ts'
import { type Model, ModelCallError, type ModelCallOptions, type ModelPart, type ModelRequest } from '../model/model.ts'
import { markForeign } from '../model/attribution.ts'

/** Loads content as base64; null if it is gone. */
export type LoadContent = (digest: string) => Promise<string | null>

/** How much of a text file a model reads, in characters. */
const mostText = 256_000

/** Whether a message of the request has files. */
export function hasFiles(messages: readonly ModelMessage[]): boolean {
  for (const message of messages) if (message.role === 'user' && message.attached !== undefined) return true
  return false
}

/**
 * The model with the content of the request's files. Files of the last user message must be of a type that it takes, or the call fails
 * with the trouble `media`. Of earlier ones, and of those beyond the limit of a request, it reads the mention in the text.
 */
export function withFiles(model: Model, load: LoadContent): Model {
  return { ...model, stream: (request, options) => streamed(model, { request, load }, options) }
}

interface Loading {
  readonly request: ModelRequest
  readonly load: LoadContent
}

async function* streamed(
  model: Model,
  { request, load }: Loading,
  options: ModelCallOptions,
): AsyncGenerator<ModelPart> {
  const { messages: loaded } = await withContents(request.messages, model, load)
  options.signal.throwIfAborted()
  try {
    yield* model.stream({ ...request, messages: loaded }, options)
  } catch (error) {
    throw aboutFiles(error)
  }
}

/** Messages with the content of their files, and which files came with each, by its index. */
interface Loaded {
  readonly messages: readonly ModelMessage[]
  readonly files: ReadonlyMap<number, readonly FileReference[]>
}

/** The messages as this model gets them. Throws the trouble `media` where it takes none of a kind that the last one brings. */
export async function withContents(
  messages: readonly ModelMessage[],
  model: Taking,
  load: LoadContent,
): Promise<Loaded> {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const loaded = [...messages]
  const read = new Map<number, readonly FileReference[]>()
  let left: number = fileLimits.requestBytes
  for (let at = last; at >= 0; at -= 1) {
    const message = messages[at]
    if (message?.role !== 'user' || message.attached === undefined) continue
    const files = at === last ? refuseForeign(model, message.attached) : taken(model, message.attached)
    const fitting = files.filter(({ bytes }) => {
      left -= bytes
      return left >= 0
    })
    loaded[at] = await withContent(message, fitting, load)
    read.set(at, fitting)
  }
  return { messages: loaded, files: read }
}

type Taking = Pick<Model, 'takes'>

function taken(model: Taking, files: readonly FileReference[]): readonly FileReference[] {
  return files.filter(({ mediaType }) => takesType(model, mediaType))
}

function refuseForeign(model: Taking, files: readonly FileReference[]): readonly FileReference[] {
  const foreign = files.find(({ mediaType }) => !takesType(model, mediaType))
  if (foreign === undefined) return files
  const detail = `it does not take files of type \`${foreign.mediaType}\`. ${takenText(model)}`
  throw new ModelCallError(detail, { retryable: false, trouble: 'media' })
}

/** The message with the content of these of its files: texts in its content, others beside it. */
async function withContent(
  { role, content }: UserTextMessage,
  files: readonly FileReference[],
  load: LoadContent,
): Promise<UserTextMessage> {
  const texts: string[] = []
  const loaded: ModelFile[] = []
  for (const { digest, mediaType, name } of files) {
    const data = await load(digest)
    if (data === null) continue // the conversation was deleted meanwhile
    if (isTextType(mediaType)) texts.push(textOf(data, name ?? mediaType))
    else loaded.push({ name, mediaType, data })
  }
  return { role, content: [content, ...texts].join('\n\n'), ...(loaded.length === 0 ? {} : { files: loaded }) }
}

function textOf(data: string, name: string): string {
  const text = Buffer.from(data, 'base64').toString('utf8')
  const title = JSON.stringify(name)
  const cut = text.length <= mostText ? '' : `\n[cut: ${text.length - mostText} more characters]`
  return `[content of ${title}]\n${markForeign(text.slice(0, mostText))}${cut}\n[end of ${title}]`
}

/** A package that cannot send a file says so without a status. */
const refusals: readonly (number | null)[] = [null, 400, 404, 415, 422, 500]

/** A provider's refusal of a request with files, so that its hint names them. */
function aboutFiles(error: unknown): unknown {
  if (!(error instanceof ModelCallError) || !refusals.includes(error.status)) return error
  if (error.trouble !== null && error.status !== 404) return error // some gateways answer 404 if no model takes a picture
  if (!/image|file|audio|document|pdf|media|mime|modalit|multimodal|content type/i.test(error.message)) return error
  const { message, status, cause } = error
  const rest = status === null ? {} : { status }
  return new ModelCallError(message, { ...rest, retryable: false, trouble: 'files', cause })
}
