/** Google's `generateContent`: Gemini 3 refuses the first call of a step that comes back without its signature. */
import { type Dialect, events, halves, type Json, type Step } from './tape.ts'

/** `strict`: as Gemini 3. */
export function google({ strict }: { readonly strict: boolean }): Dialect {
  return {
    name: strict ? 'Gemini 3' : 'Gemini 2.5',
    plain: (step) => answer(partsOf(step), 'STOP'),
    stream: (step) => events(streamOf(step)),
    history: (body) => [body.systemInstruction, body.contents],
    refusal: (body, tape) => (strict ? missingSignature(body.contents as readonly Content[], tape) : null),
    wordsOf: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  }
}

interface Content {
  readonly role: string
  readonly parts: readonly Json[]
}

function answer(parts: readonly Json[], finishReason?: string): Json {
  const candidate = {
    content: { role: 'model', parts },
    index: 0,
    ...(finishReason === undefined ? {} : { finishReason }),
  }
  const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 5, thoughtsTokenCount: 3, totalTokenCount: 28 }
  return { candidates: [candidate], usageMetadata, modelVersion: 'gemini' }
}

/** Only the first of several calls is signed; an answer is signed at its end. */
function partsOf({ thought, sign, text, calls }: Step): Json[] {
  const thoughtSignature = sign
  const said = text === '' ? [] : [{ text, ...(calls.length === 0 ? { thoughtSignature } : {}) }]
  const asked = calls.map(({ id, city }, at) => {
    return { functionCall: { id, name: 'weather', args: { city } }, ...(at === 0 ? { thoughtSignature } : {}) }
  })
  return [{ text: thought, thought: true }, ...said, ...asked]
}

function streamOf(step: Step): Json[] {
  const pieces = partsOf(step).flatMap((part) => {
    const { text, thoughtSignature, ...rest } = part
    if (typeof text !== 'string') return [[part]]
    const signed = thoughtSignature === undefined ? [] : [[{ ...rest, text: '', thoughtSignature }]]
    return [...halves(text).map((half) => [{ ...rest, text: half }]), ...signed]
  })
  return [...pieces.map((parts) => answer(parts)), answer([{ text: '' }], 'STOP')]
}

function missingSignature(contents: readonly Content[], tape: readonly Step[]): string | null {
  const from = contents.findLastIndex(({ role, parts }) => role === 'user' && parts.some((part) => 'text' in part))
  for (const [at, { role, parts }] of contents.entries()) {
    const first = parts.find((part) => 'functionCall' in part)
    if (at < from || role !== 'model' || first === undefined) continue
    if (!tape.some(({ sign }) => sign === first.thoughtSignature))
      return `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:weather\`, position ${at}.`
  }
  return null
}
