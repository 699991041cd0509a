/** The document of an agent: what it has said and seen on this path, and nothing of anybody else. */
import { Link } from '@tanstack/react-router'
import type { Document } from '@witan/protocol'
import { formatTokens } from '../state/format.ts'
import { useDocument } from '../state/queries.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { Button } from './button.tsx'
import { JsonBlock } from './json-block.tsx'
import { MessageFiles } from './message-files.tsx'
import { UnreadNote } from './note.tsx'
import { Reasoning } from './reasoning.tsx'
import { ResultView } from './result-view.tsx'

/** The latest 100 messages, earlier ones on demand, with the agent's parameters; hidden values never arrive here. */
export function DocumentView({ path }: { readonly path: string }) {
  const document = useDocument(path)
  if (document.data === undefined) return <UnreadNote query={document} what="the document" />
  const [newest] = document.data.pages
  if (newest === undefined) return null
  // Older servers do not list the agents.
  const { agent, agents = [agent], parameters, totalUsage } = newest
  const messages = document.data.pages.toReversed().flatMap((page) => page.messages)
  return (
    <article
      aria-label={`Document ${path}`}
      data-testid="document"
      className="space-y-3 rounded-md border border-line p-3"
    >
      <header>
        <h4 className="break-all font-mono text-xs font-semibold">{path}</h4>
        <p className="text-xs text-muted">
          Belongs to{' '}
          <Link to="/agents/$agentId" params={{ agentId: agent }} className="text-accent underline">
            {agent}
          </Link>{' '}
          ·{' '}
          {formatTokens({
            input: totalUsage.inputTokens,
            output: totalUsage.outputTokens,
            complete: totalUsage.complete,
          })}{' '}
          tokens in all
        </p>
        {agents.length > 1 && (
          <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-muted">
            Who spoke in it:
            {agents.map((id) => (
              <Speaker key={id} id={id} />
            ))}
          </p>
        )}
      </header>
      <ul className="text-xs">
        {Object.entries(parameters).map(([name, given]) => (
          <li key={name} className="break-words font-mono">
            {name}{' '}
            <span className="text-muted">{given.sendToModel ? `= ${JSON.stringify(given.value)}` : '(hidden)'}</span>
          </li>
        ))}
      </ul>
      {document.hasNextPage && (
        <Button disabled={document.isFetchingNextPage} onClick={() => void document.fetchNextPage()}>
          Show earlier messages
        </Button>
      )}
      <ol className="space-y-3">
        {messages.map((message) => (
          <li key={`${message.seq} ${message.role}`} className="space-y-1.5">
            <p className="label flex items-center gap-1.5">
              {agents.includes(message.author) ? <Speaker id={message.author} /> : message.author}
              {message.to !== null && ` → ${message.to}`}
            </p>
            {message.reasoning !== undefined && <Reasoning title="Thought" text={message.reasoning} />}
            {message.text !== '' && <p className="whitespace-pre-wrap break-words">{message.text}</p>}
            <FilesOf path={path} parts={message.parts} />
            {message.toolCalls.map((tool) => (
              <div key={tool.id} className="space-y-1.5">
                <JsonBlock label={`Called ${tool.name}`} value={tool.arguments} />
                {tool.result !== null && <ResultView label="Result" value={tool.result} />}
              </div>
            ))}
          </li>
        ))}
      </ol>
    </article>
  )
}

function Speaker({ id }: { readonly id: string }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <AgentSign id={id} />
      <AgentName id={id} />
    </span>
  )
}

function FilesOf({ path, parts }: { readonly path: string; readonly parts: Document['messages'][number]['parts'] }) {
  const files = parts.flatMap((part) => (part.type === 'file' ? [part] : []))
  if (files.length === 0) return null
  return <MessageFiles conversationId={path.split('/').slice(0, 2).join('/')} files={files} />
}
