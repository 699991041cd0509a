/** What a call may write and which options a provider gets: those of the agent, and behind them those of the connection. */
import type { ProviderOptions } from '@witan/protocol'

/** Settings of a model for all its calls. An agent's own stand before them. */
export interface ModelSettings {
  /** How many tokens one reply may have, thoughts included. */
  readonly maxOutputTokens?: number
  /** By the provider's name. */
  readonly providerOptions?: ProviderOptions
}

/** Both together: of each provider's options the agent's stand before the connection's, key by key. */
export function settingsWith(own: ModelSettings, behind: ModelSettings): ModelSettings {
  const { maxOutputTokens = behind.maxOutputTokens, providerOptions = behind.providerOptions } = own
  return {
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(providerOptions === undefined
      ? {}
      : { providerOptions: merged(behind.providerOptions ?? {}, providerOptions) }),
  }
}

function merged(behind: ProviderOptions, own: ProviderOptions): ProviderOptions {
  if (behind === own) return own
  const all: Record<string, Record<string, unknown>> = { ...behind }
  for (const [provider, options] of Object.entries(own)) all[provider] = { ...behind[provider], ...options }
  return all
}
