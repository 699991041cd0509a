/** What a runtime calls agents on other servers with. */
import { createRemotes, type FederationOptions } from '../federation/remotes.ts'
import type { RemoteCaller } from '../tool/remote.ts'
import type { RuntimeOptions } from './options.ts'

type Options = Pick<RuntimeOptions, 'remotes' | 'federation'>

/** What the options say, or else what the domains and the settings of the federation make; null if nothing can be called. */
export function remotesOf(
  { remotes, federation }: Options,
  parts: Omit<Parameters<typeof createRemotes>[0], keyof FederationOptions>,
): RemoteCaller | null {
  return remotes ?? createRemotes({ ...federation, ...parts })
}
