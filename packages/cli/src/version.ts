/** The version of this package. */
import { readFileSync } from 'node:fs'

/** The version as its package.json has it; all packages share one. */
export function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
