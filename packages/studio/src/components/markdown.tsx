/** An answer in Markdown as elements, never as HTML: a model's text can only become the elements in this file. */
import type { Token } from 'markdown-it'
import { Fragment, memo, type ReactNode, useMemo, useState } from 'react'
import { type MarkdownBlock, markdownText, webAddress } from '../state/markdown.ts'
import { useCopy } from '../state/use-copy.ts'
import './markdown.css'

/** Blocks that do not change are not drawn again while the text grows. `writing` puts a caret at its end. */
export function Markdown({ text, writing = false }: { readonly text: string; readonly writing?: boolean }) {
  const [reader] = useState(markdownText)
  const blocks = useMemo(() => reader.blocks(text), [reader, text])
  return (
    <div data-testid="answer-text" className={`markdown ${writing ? 'writing' : ''}`}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is known by its place in the text.
        <Block key={index} block={block} />
      ))}
    </div>
  )
}

const Block = memo(function Block({ block: { tokens, source } }: { readonly block: MarkdownBlock }) {
  return tokens === null ? <p className="whitespace-pre-wrap">{source}</p> : drawAll(tokens)
})

interface Drawn {
  readonly nodes: ReactNode[]
  /** Behind the last token that was drawn. */
  readonly next: number
}

function drawAll(tokens: readonly Token[]): ReactNode {
  return draw(tokens, 0).nodes
}

/** Draws up to the end of the element that is open, or of all. */
function draw(tokens: readonly Token[], from: number): Drawn {
  const nodes: ReactNode[] = []
  let at = from
  while (at < tokens.length) {
    const token = tokens[at] as Token
    if (token.nesting < 0) return { nodes, next: at + 1 }
    if (token.nesting === 0) {
      nodes.push(<Fragment key={at}>{leaf(token)}</Fragment>)
      at += 1
      continue
    }
    const inside = draw(tokens, at + 1)
    nodes.push(<Fragment key={at}>{element(token, inside.nodes)}</Fragment>)
    at = inside.next
  }
  return { nodes, next: at }
}

function leaf(token: Token): ReactNode {
  switch (token.type) {
    case 'inline':
      return drawAll(token.children ?? [])
    case 'text':
      return token.content
    case 'softbreak':
    case 'hardbreak':
      return <br />
    case 'code_inline':
      return <code>{token.content}</code>
    case 'fence':
    case 'code_block':
      return <Code text={token.content} language={/^[\w+#.-]{1,20}/.exec(token.info)?.[0] ?? ''} />
    case 'hr':
      return <hr />
    case 'image':
      return <OutwardLink href={attribute(token, 'src')}>{token.content || 'picture'}</OutwardLink>
    default:
      return token.content
  }
}

function element(token: Token, inside: ReactNode): ReactNode {
  switch (token.type) {
    case 'paragraph_open':
      return token.hidden ? inside : <p>{inside}</p>
    case 'heading_open':
      return <Heading level={Number(token.tag.slice(1))}>{inside}</Heading>
    case 'bullet_list_open':
      return <ul>{inside}</ul>
    case 'ordered_list_open':
      return <ol start={Number(attribute(token, 'start') || 1)}>{inside}</ol>
    case 'list_item_open':
      return <li>{inside}</li>
    case 'blockquote_open':
      return <blockquote>{inside}</blockquote>
    case 'strong_open':
      return <strong>{inside}</strong>
    case 'em_open':
      return <em>{inside}</em>
    case 's_open':
      return <s>{inside}</s>
    case 'link_open':
      return (
        <OutwardLink href={attribute(token, 'href')} isBare={token.info === 'auto'}>
          {inside}
        </OutwardLink>
      )
    default:
      return tablePart(token, inside)
  }
}

function tablePart(token: Token, inside: ReactNode): ReactNode {
  const align = /^text-align:(left|center|right)$/.exec(attribute(token, 'style'))?.[1] as 'left' | undefined
  const style = align === undefined ? {} : { style: { textAlign: align } }
  switch (token.type) {
    case 'table_open':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keys.
        <section className="markdown-table" tabIndex={0} aria-label="Table">
          <table>{inside}</table>
        </section>
      )
    case 'thead_open':
      return <thead>{inside}</thead>
    case 'tbody_open':
      return <tbody>{inside}</tbody>
    case 'tr_open':
      return <tr>{inside}</tr>
    case 'th_open':
      return <th {...style}>{inside}</th>
    case 'td_open':
      return <td {...style}>{inside}</td>
    default:
      return inside
  }
}

function attribute(token: Token, name: string): string {
  return String(token.attrs?.find(([one]) => one === name)?.[1] ?? '')
}

/** Below the headings of the page: the first level of an answer is the third of the page. */
function Heading({ level, children }: { readonly level: number; readonly children: ReactNode }) {
  const Tag = (['h3', 'h4', 'h5', 'h6'] as const)[Math.min(level, 4) - 1] ?? 'h6'
  return <Tag data-level={level}>{children}</Tag>
}

interface LinkProps {
  readonly href: string
  /** Its text is its address. */
  readonly isBare?: boolean
  readonly children: ReactNode
}

/** A link out of the Studio, marked with where it leads; what does not lead to a web page is its text. */
function OutwardLink({ href, isBare = false, children }: LinkProps) {
  const url = webAddress(href)
  if (url === null) return children
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href}>
      {children}
      <span className="markdown-host">
        {'\u00a0↗'}
        {!isBare && `\u202f${url.host}`}
      </span>
    </a>
  )
}

function Code({ text, language }: { readonly text: string; readonly language: string }) {
  const { copied, copy } = useCopy()
  return (
    <div className="markdown-code">
      <div>
        <span>{language || 'code'}</span>
        <button type="button" onClick={() => copy(text.replace(/\n$/, ''))}>
          <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keys. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  )
}
