/** What the browser tests drive: the stub by default, any running server where its address is given. */
import { startStub } from './stub-server.ts'

/** A server with a Studio, and the words that make its agent delegate down to an action. */
export interface Target {
  /** The first address to open; a real server's may carry `?token=…`. */
  readonly entry: string
  readonly origin: string
  readonly agent: string
  readonly parameters: Readonly<Record<string, string>>
  /** A message whose run waits for `action`, below the root, before it ends. */
  readonly prompt: string
  readonly action: string
  readonly answer: string
  /** A message whose run ends by itself. */
  readonly shortPrompt: string
  close(): Promise<void>
}

/**
 * The server at `WITAN_STUDIO_URL`, or a stub of our own. With a real server, `WITAN_STUDIO_TARGET` may hold JSON
 * that replaces any of the other fields.
 */
export async function openTarget(): Promise<Target> {
  const url = process.env.WITAN_STUDIO_URL
  const stub = url === undefined ? await startStub({ pieceMs: 30 }) : null
  const entry = url ?? stub?.url ?? ''
  return {
    entry,
    origin: new URL(entry).origin,
    agent: 'company-assistant-agent',
    parameters: { userId: 'employees/3-A', country: 'France' },
    prompt: 'Please rename me to Anna. Who is my manager?',
    action: 'ChangeUserName',
    answer: '{"ok": true}',
    shortPrompt: 'Good morning',
    ...(JSON.parse(process.env.WITAN_STUDIO_TARGET ?? '{}') as Partial<Target>),
    close: async () => await stub?.close(),
  }
}
