/** The lines above a run: who is asked what, and whether a script answers instead of a model. */
import { type Client, type FilePart, isWitanError } from '@witan/client'
import { attachedText } from './attachments.ts'
import type { Stage } from './stage.ts'
import { columnsOf, print } from './terminal.ts'
import { cutText, oneLine } from './tree/width.ts'

/** Prints the prompt with its files and, where it is so, that no language model is called. */
export async function printWelcome(
  { terminal, connection, chat }: Stage,
  prompt: string,
  files: readonly FilePart[] = [],
): Promise<void> {
  const columns = columnsOf(terminal.output, 100)
  const notice = await scriptNotice(connection.client, chat.agent)
  if (notice !== null)
    print(terminal, [
      { text: '! ', tone: 'wait' },
      { text: notice, tone: 'wait' },
    ])
  print(terminal, [
    { text: '› ', tone: 'busy' },
    { text: cutText(oneLine(prompt), columns - 3), tone: 'strong' },
  ])
  for (const file of files) print(terminal, [{ text: `  + ${attachedText(file)}`, tone: 'faint' }])
  print(terminal)
}

/** One sentence if any agent below this one has a scripted model, else null. A caller who may not read the agent gets null. */
export async function scriptNotice(client: Client, agent: string): Promise<string | null> {
  const { nodes } = await client.agents.graph(agent).catch((error: unknown) => {
    if (isWitanError(error) && error.code === 'NOT_FOUND') return { nodes: [{ id: agent, kind: 'agent' }] }
    throw error
  })
  const reached = await Promise.all(nodes.filter(({ kind }) => kind === 'agent').map(({ id }) => client.agents.get(id)))
  // A workflow has no model.
  const agents = reached.filter(({ workflow }) => workflow == null)
  const scripted = agents.filter(({ modelKind }) => modelKind === 'script')
  if (scripted.length === 0) return null
  const who =
    scripted.length === agents.length ? 'The agents answer' : `${scripted.map(({ id }) => id).join(', ')} answer`
  return `${who} by rules of a script: no language model is called.`
}
