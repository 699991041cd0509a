/** What to copy from a page that has nothing to show yet. Each works as it stands. */

/** The beginning of a project: `witan.config.ts` with an agent that needs no key. */
export const firstConfig = [
  "import { defineAgent } from '@witan/core'",
  "import { scriptedModel } from '@witan/core/testing'",
  "import { defineConfig } from '@witan/server'",
  '',
  'export default defineConfig({',
  '  agents: [',
  '    defineAgent({',
  "      id: 'helper',",
  "      description: 'Answers questions.',",
  "      instructions: 'Answer in one sentence.',",
  "      // Without a key the answer comes from a script. A language model is named like 'openai/gpt-5-mini'.",
  "      model: scriptedModel(() => 'Hello! I am an agent without a language model.'),",
  '    }),',
  '  ],',
  '})',
].join('\n')

interface Here {
  /** The address of the server, such as `http://127.0.0.1:4747`. */
  readonly origin: string
  /** Whether the caller is the one principal of a server of this machine, whose token the command line finds by itself. */
  readonly isLocal: boolean
}

/** A command line for this server. A server with keys or tokens of an issuer takes the caller's from `WITAN_TOKEN`. */
export function commandHere(words: string, { origin, isLocal }: Here): string {
  return isLocal ? `npx witan ${words}` : `npx witan ${words} --url ${origin}`
}
