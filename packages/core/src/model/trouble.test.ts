/** What providers say of a failure, word for word, and what it is about. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsToolCall } from './tool-call-text.ts'
import { hintOf, type ProviderFailure, troubleOf } from './trouble.ts'

const tooLong: readonly (ProviderFailure & { readonly by: string })[] = [
  { by: 'OpenAI', status: 400, codes: ['context_length_exceeded'], text: '' },
  { by: 'OpenAI', status: 400, text: 'Your input exceeds the context window of this model. Please adjust your input.' },
  { by: 'Anthropic', status: 400, text: 'prompt is too long: 213462 tokens > 200000 maximum' },
  { by: 'Anthropic', status: 400, text: 'input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000' },
  { by: 'Anthropic', status: 413, codes: ['request_too_large'], text: 'Request exceeds the maximum size' },
  {
    by: 'Google',
    status: 400,
    text: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
  },
  {
    by: 'xAI',
    status: 400,
    text: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  },
  { by: 'Groq', status: 400, text: 'Please reduce the length of the messages or completion.' },
  {
    by: 'DeepSeek',
    status: 400,
    text: "This model's maximum context length is 65536 tokens. However, you requested 70000",
  },
  {
    by: 'Mistral',
    status: 400,
    text: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
  },
  { by: 'OpenRouter', status: 400, text: "This endpoint's maximum context length is 8192 tokens." },
  { by: 'llama.cpp', status: 400, codes: ['exceed_context_size_error'], text: '' },
  { by: 'llama.cpp', status: 500, text: 'the request exceeds the available context size' },
  {
    by: 'LM Studio',
    status: 400,
    text: 'The number of tokens to keep from the initial prompt is greater than the context length',
  },
  { by: 'Ollama', status: 400, text: 'prompt too long; exceeded max context length by 4 tokens' },
  { by: 'Amazon', status: 400, text: 'Input is too long for requested model.' },
  { by: 'LM Studio', status: 400, text: 'Context size has been exceeded.' },
  {
    by: 'SGLang',
    status: 400,
    text: "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
  },
  {
    by: 'Text Generation Inference',
    status: 422,
    text: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000',
  },
  {
    by: 'Text Generation Inference',
    status: 422,
    text: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000',
  },
  { by: 'MiniMax', status: 400, text: 'invalid params, context window exceeds limit (2013)' },
  { by: 'Z.ai', status: 400, text: 'Prompt exceeds max length' },
  { by: 'Alibaba', status: 400, text: 'Range of input length should be [1, 30720]' },
  { by: 'OpenAI, by a gateway', status: 400, text: 'Input tokens exceed the configured limit of 272000 tokens.' },
  {
    by: 'Poolside',
    status: 400,
    text: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
  },
  { by: 'Perplexity', status: 400, text: 'The total length of all messages is too long.' },
  { by: 'LiteLLM', status: 400, text: 'litellm.ContextWindowExceededError: litellm.BadRequestError: …' },
  { by: 'in a stream', text: 'context length exceeded' },
]

const others: readonly (readonly [ProviderFailure, ReturnType<typeof troubleOf>])[] = [
  [{ status: 429, codes: ['insufficient_quota'], text: 'You exceeded your current quota' }, 'quota'],
  [{ status: 400, text: 'Your credit balance is too low to access the Anthropic API.' }, 'quota'],
  [{ status: 402, text: 'Insufficient Balance' }, 'quota'],
  // The same words stand in an answer of Google's that passes within a minute.
  [{ status: 429, codes: [429, 'RESOURCE_EXHAUSTED'], text: 'You exceeded your current quota' }, null],
  [{ status: 413, text: 'Request too large for model on tokens per minute (TPM)' }, null],
  [{ status: 401, text: 'Invalid key' }, 'access'],
  [{ status: 403, text: 'Not yours' }, 'access'],
  [{ status: 403, text: "Your newly created team doesn't have any credits or licenses yet." }, 'quota'],
  [{ status: 403, text: 'Your chosen model requires moderation and your input was flagged for "violence".' }, null],
  [{ status: 404, text: 'model not found' }, 'access'],
  [{ status: 400, text: 'API key not valid. Please pass a valid API key.' }, 'access'],
  [{ status: 400, codes: ['model_not_found'], text: '' }, 'access'],
  [{ status: 400, text: 'small is not a valid model ID' }, 'access'],
  [{ status: 400, text: 'Invalid model: small' }, 'access'],
  [{ status: 400, text: 'Model Not Exist' }, 'access'],
  [{ status: 400, text: 'The model `small` does not exist' }, 'access'],
  [{ status: 400, text: 'Bad request' }, null],
  [{ status: 503, text: 'overloaded' }, null],
  [{ text: 'fetch failed' }, null],
]

test('a request beyond the context is known by the words of every provider', () => {
  for (const said of tooLong) assert.equal(troubleOf(said), 'context', `${said.by}: ${said.text}`)
})

test('what an account may spend, and the way to a model, are told apart from what passes', () => {
  for (const [said, trouble] of others) assert.equal(troubleOf(said), trouble, said.text)
  const late = `${'x'.repeat(4000)} prompt is too long`
  assert.equal(troubleOf({ status: 400, text: late }), null, 'of a text without end the beginning is read')
})

test('only trouble with the way to a model names the connection', () => {
  for (const trouble of ['quota', 'context', 'media', 'files', 'break', 'time', null] as const)
    for (const retryable of [true, false]) assert.doesNotMatch(hintOf(trouble, retryable), /connection|key|address/)
  assert.match(hintOf('access', false), /connection/)
})

test('a call in a text is one where it names a tool that there is, and words about a call are none', () => {
  const tools = [{ name: 'weather' }]
  const calls = [
    '<tool_call>{"name":"weather"}</tool_call>',
    'I look.\n<tool_call>\n<function=weather>',
    '```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```',
    '[{"function": "weather", "parameters": {}}]',
    'I look.\n```json\n{"name": "weather", "arguments": {}}\n```',
    'I look.\n  {"action": "weather", "action_input": {}}',
    '<invoke name="weather">',
    '<｜tool▁calls▁begin｜>',
  ]
  const words = [
    'The weather tool takes {"city": "Oslo"}.',
    '{"name": "Ada", "age": 36}',
    '{"name": "else", "arguments": {}}',
    'Use {"name": "weather", "arguments": {}} to call it.',
    '',
  ]
  for (const text of calls) assert.equal(holdsToolCall(text, tools), true, text)
  for (const text of words) assert.equal(holdsToolCall(text, tools), false, text)
})
