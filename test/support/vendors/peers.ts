/** The vendors with the real packages of the AI SDK in front of them, and our own adapter where it speaks their language. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createGoogle } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { anthropic } from './anthropic.ts'
import { deepseek, geminiChat, mistral, openaiChat, openrouter } from './chat-completions.ts'
import { google } from './google.ts'
import { openaiResponses } from './openai-responses.ts'
import type { Dialect, Json } from './tape.ts'

/** A vendor as the AI SDK calls it. */
export interface Peer {
  readonly dialect: Dialect
  model(baseUrl: string): LanguageModelV4
  /** What a caller must set, so that the vendor thinks or does not store. */
  readonly providerOptions?: Record<string, Json>
}

const apiKey = 'key'
const claude = (baseURL: string) => createAnthropic({ baseURL, apiKey })('claude-sonnet-4-5')
const thinking = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } }

/** Those whose packages give everything back. */
export const peers: readonly Peer[] = [
  { dialect: anthropic(), model: claude, providerOptions: thinking },
  { dialect: anthropic({ sealed: true }), model: claude, providerOptions: thinking },
  {
    dialect: google({ strict: true }),
    model: (baseURL) => createGoogle({ baseURL, apiKey })('gemini-3-pro-preview'),
  },
  { dialect: google({ strict: false }), model: (baseURL) => createGoogle({ baseURL, apiKey })('gemini-2.5-flash') },
  {
    dialect: openaiResponses({ stored: true }),
    model: (baseURL) => createOpenAI({ baseURL, apiKey }).responses('gpt-5'),
  },
  {
    dialect: openaiResponses({ stored: false }),
    model: (baseURL) => createOpenAI({ baseURL, apiKey }).responses('gpt-5'),
    providerOptions: { openai: { store: false } },
  },
  { dialect: openaiChat, model: (baseURL) => createOpenAI({ baseURL, apiKey }).chat('gpt-4o') },
  { dialect: deepseek, model: (baseURL) => createDeepSeek({ baseURL, apiKey })('deepseek-v4-pro') },
  {
    dialect: geminiChat,
    model: (baseURL) => createOpenAICompatible({ name: 'google', baseURL, apiKey })('gemini-3-pro-preview'),
  },
  { dialect: mistral, model: (baseURL) => createMistral({ baseURL, apiKey })('magistral-medium-latest') },
]

/** Those that our own adapter speaks with. */
export const ownDialects: readonly Dialect[] = [deepseek, geminiChat, openrouter, openaiChat]
