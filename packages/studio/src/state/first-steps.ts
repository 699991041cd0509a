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

/** A project with a knowledge base, and an agent that searches it for each message and quotes what it finds. */
export const knowledgeConfig = [
  "import { defineAgent } from '@witan/core'",
  "import { scriptedModel } from '@witan/core/testing'",
  "import { defineConfig } from '@witan/server'",
  '',
  'export default defineConfig({',
  '  // Add documents here in the Studio, or with: npx witan knowledge add handbook FOLDER',
  "  knowledge: [{ id: 'handbook', description: 'How we work.' }],",
  '  agents: [',
  '    defineAgent({',
  "      id: 'helper',",
  "      description: 'Answers from the handbook.',",
  "      instructions: 'Answer from the handbook, and cite its passages.',",
  "      knowledgeBases: [{ id: 'handbook', retrieval: 'auto' }],",
  "      // Without a key the answer comes from a script. A language model is named like 'openai/gpt-5-mini'.",
  "      model: scriptedModel(() => 'What I found stands in the tree of this run.'),",
  '    }),',
  '  ],',
  '})',
].join('\n')

/** A project with an MCP server, and an agent that uses some of its tools. The folder `shared` must exist. */
export const mcpConfig = [
  "import { defineAgent } from '@witan/core'",
  "import { call, scriptedModel } from '@witan/core/testing'",
  "import { defineConfig } from '@witan/server'",
  '',
  'export default defineConfig({',
  '  mcpServers: {',
  '    // A program to start, or the `url` of a service.',
  '    // This one works in a folder, which must exist.',
  '    files: {',
  "      command: 'npx',",
  "      args: ['-y', '@modelcontextprotocol/server-filesystem', './shared'],",
  '    },',
  '  },',
  '  agents: [',
  '    defineAgent({',
  "      id: 'helper',",
  "      description: 'Answers from the files of a folder.',",
  "      instructions: 'Answer from the files.',",
  "      mcp: [{ server: 'files', tools: ['list_*', 'read_*'], approval: 'none' }],",
  '      // Without a key a script decides.',
  "      // A language model is named like 'openai/gpt-5-mini'.",
  '      model: scriptedModel((request, turn) => {',
  "        if (turn > 0) return 'What I found stands in the tree of this run.'",
  "        return call('files_list_directory', { path: 'shared' })",
  '      }),',
  '    }),',
  '  ],',
  '})',
].join('\n')

/** A project with an agent that remembers what its people say. */
export const memoryConfig = [
  "import { defineAgent } from '@witan/core'",
  "import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'",
  "import { defineConfig } from '@witan/server'",
  '',
  'export default defineConfig({',
  '  agents: [',
  '    defineAgent({',
  "      id: 'helper',",
  "      description: 'Remembers what you tell it.',",
  "      instructions: 'Remember what the person wants, and keep to it.',",
  '      memory: {},',
  '      // Without a key a script decides.',
  "      // A language model is named like 'openai/gpt-5-mini'.",
  '      model: scriptedModel((request, turn) => {',
  "        const [text = ''] = lastUserMessage(request).split('\\n')",
  "        if (turn > 0) return 'I shall remember that.'",
  "        return call('remember', { key: 'note-' + Date.now(), text })",
  '      }),',
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
