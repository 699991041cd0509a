/** Classifies failed model calls by the provider's status, code and words, in the same way for every adapter. */

/**
 * The way to the model, what its account may spend, or a request that is longer than the model can read. `media`: it does not take
 * files of a type, and was not asked. `files`: the provider refused a request with files. `break`: the reply broke off after its first
 * words. `time`: it took longer than it may.
 */
export type CallTrouble = 'access' | 'quota' | 'context' | 'media' | 'files' | 'break' | 'time'

/** What a provider said of a failure. */
export interface ProviderFailure {
  readonly status?: number | undefined
  /** Its own code or type, such as `context_length_exceeded`. */
  readonly codes?: readonly unknown[]
  readonly text: string
}

const contextCodes: readonly unknown[] = ['context_length_exceeded', 'exceed_context_size_error', 'request_too_large']
const accessCodes: readonly unknown[] = ['model_not_found', 'invalid_model', 'invalid_api_key']
const quotaCodes: readonly unknown[] = ['insufficient_quota', 'billing_error', 'billing_not_active']

/** One for each vendor or server that was seen to say it so. */
const contextWords = [
  /prompt (is )?too long/i, // Anthropic
  /exceeds? (the |model )?context (window|limit|length)/i, // OpenAI, Anthropic, MiniMax
  /input token count.*exceeds the maximum/i, // Google
  /maximum (context|prompt|model) length/i, // OpenAI, DeepSeek, Mistral, OpenRouter, xAI, vLLM
  /reduce the length of the (messages|prompt)/i, // Groq
  /input is too long for/i, // Amazon
  /exceeds the available context size/i, // llama.cpp
  /context size has been exceeded/i, // LM Studio
  /(greater|longer) than the (model's )?context length/i, // LM Studio, SGLang
  /`inputs`.* must (be <=|have less than)/i, // Text Generation Inference
  /context window exceeds limit/i, // MiniMax
  /prompt exceeds (the |max(imum)? )?length/i, // Z.ai
  /range of input length should be/i, // Alibaba
  /input tokens exceed|maximum (allowed )?input length/i, // OpenAI, Poolside
  /length of all messages is too long/i, // Perplexity
  /exceed(ed|s)? max(imum)? context length/i, // Ollama
  /exceeded model token limit/i, // Kimi
  /context[_ ]length[_ ]exceeded|ContextWindowExceeded/i, // LiteLLM
]
const quotaWords = [
  /credit balance is too low/i,
  /insufficient[ _](balance|credits?|funds|quota)/i,
  /(used all available|doesn't have any) credits/i, // xAI
]
/** A wrong key or name that is answered with 400, as Google, OpenRouter, Mistral and DeepSeek do. */
const accessWords = [
  /api[ _]key[ _](not valid|invalid)|(invalid|incorrect) api[ _]key/i,
  /not a valid model|(invalid|unknown) model\b|\bmodel\b.{0,60}\b(not exist|not found)/i,
]
/** A request that was read and refused, which some gateways answer with 403. */
const moderationWords = /\b(flagged|moderation|content (policy|filter)|safety (system|filter))\b/i

/** That much of a text is read: patterns take longer than a text is long. */
const mostText = 4000

/** What a failure is about; null where nothing is known of it, or where it may pass by itself. */
export function troubleOf({ status, codes = [], text: all }: ProviderFailure): CallTrouble | null {
  const text = all.slice(0, mostText)
  if (codes.some((code) => quotaCodes.includes(code)) || quotaWords.some((words) => words.test(text))) return 'quota'
  if (status === 402) return 'quota'
  if (codes.some((code) => contextCodes.includes(code))) return 'context'
  const mayBe = status === undefined || status === 400 || status === 413 || status === 422 || status === 500
  if (mayBe && contextWords.some((words) => words.test(text))) return 'context'
  if (codes.some((code) => accessCodes.includes(code))) return 'access'
  if (status === 400 && accessWords.some((words) => words.test(text))) return 'access'
  if (status === 403 && moderationWords.test(text)) return null
  return status === 401 || status === 403 || status === 404 ? 'access' : null
}

/** Status codes with which a server or a gateway gives up waiting. The model behind it may have worked nevertheless. */
const gaveUp: readonly number[] = [408, 499, 502, 504, 520, 524]

/** Whether a provider may charge for a failed request. An error status is a refusal and costs nothing; what broke off may cost. */
export function mayHaveCost(status: number | null, trouble: CallTrouble | null): boolean {
  if (trouble === 'break' || trouble === 'time') return true
  if (trouble !== null) return false
  return status === null || gaveUp.includes(status)
}

const unreachable = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CERT_|DEPTH_ZERO_|UNABLE_TO_|ERR_TLS_)/

/** Whether a network code says that no server answers at the address. Other codes may say that a connection broke. */
export function isUnreachable(code: string): boolean {
  return unreachable.test(code)
}

/** Whether a request with this code of the network never arrived. */
export function neverArrived(code: string): boolean {
  return isUnreachable(code) || code === 'UND_ERR_CONNECT_TIMEOUT'
}

/** What to do about a call that failed. */
export function hintOf(trouble: CallTrouble | null, retryable: boolean): string {
  switch (trouble) {
    case 'access':
      return 'Look at the connection: its address, its key, and the name of the model.'
    case 'quota':
      return 'The account has nothing left to spend: look at its plan and its limits, where the provider shows them.'
    case 'context':
      return 'Set `history` of the agent, so that a long history is trimmed; let tools return less; or take a model that reads more.'
    case 'media':
      return 'Take a model that reads files of this type, or send the message without the file.'
    case 'files':
      return 'The request has files: the model may not read them. Take another model, or send the message without the file.'
    case 'break':
      return 'Send the message again: the reply broke off, and what people have read of it is not said twice.'
    case 'time':
      return 'Ask for less, let the model think less, or raise the limit: `retry.totalMs`, or `totalTimeoutMs` of the model.'
    case null:
      return retryable
        ? 'Try again later: the provider did not answer, and the retries are behind it.'
        : 'Read what the provider says of the request; another model may take it.'
  }
}
