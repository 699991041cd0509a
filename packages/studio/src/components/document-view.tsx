/** The document of an agent: what it has said and seen on this path, and nothing of anybody else. */
import { Link } from '@tanstack/react-router'
import { formatTokens } from '../state/format.ts'
import { useDocument } from '../state/queries.ts'
import { JsonBlock } from './json-block.tsx'
import { LoadingNote, ProblemNote } from './note.tsx'

/** The latest 100 messages, with the agent's parameters; hidden values never arrive here. */
export function DocumentView({ path }: { readonly path: string }) {
  const document = useDocument(path)
  if (document.isPending) return <LoadingNote what="the document" />
  if (document.isError) return <ProblemNote error={document.error} onRetry={() => void document.refetch()} />
  const { agent, parameters, messages, totalUsage, hasMore } = document.data
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
      </header>
      <ul className="text-xs">
        {Object.entries(parameters).map(([name, given]) => (
          <li key={name} className="break-words font-mono">
            {name}{' '}
            <span className="text-muted">{given.sendToModel ? `= ${JSON.stringify(given.value)}` : '(hidden)'}</span>
          </li>
        ))}
      </ul>
      {hasMore && <p className="text-xs text-muted">Earlier messages are not shown here.</p>}
      <ol className="space-y-3">
        {messages.map((message) => (
          <li key={message.seq} className="space-y-1.5">
            <p className="label">
              {message.author}
              {message.to !== null && ` → ${message.to}`}
            </p>
            {message.text !== '' && <p className="whitespace-pre-wrap break-words">{message.text}</p>}
            {message.toolCalls.map((tool) => (
              <JsonBlock
                key={tool.id}
                label={`Called ${tool.name}`}
                value={{ arguments: tool.arguments, result: tool.result }}
              />
            ))}
          </li>
        ))}
      </ol>
    </article>
  )
}
