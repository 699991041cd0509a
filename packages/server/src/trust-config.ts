/** The trusted issuers of a configuration, kept in the form in which evidence names them. */
import { canonicalSubject, type EvidenceIssuer, urlOfDid } from '@witan/core/tooling'
import { readAddress, readDomain } from '@witan/protocol/names'
import { z } from 'zod'

const longestUri = 320
const anyOfDomain = '@*@'

/** An HTTPS URL without a slash at its end, or a `did:web`. */
const issuer = z
  .string()
  .max(300)
  .transform((text, context) => {
    const read = text.startsWith('did:') ? didOf(text) : urlOf(text)
    if (read !== null) return read
    const example = 'such as `https://b.example` or `did:web:b.example`'
    context.addIssue({
      code: 'custom',
      message: `must be an \`https://\` URL without query or user, or a did:web, ${example}`,
    })
    return z.NEVER
  })

function didOf(did: string): string | null {
  const url = urlOfDid(did)
  if (url === null || !URL.canParse(url)) return null
  const { host } = new URL(url)
  const [, ...path] = did.slice('did:web:'.length).split(':')
  return ['did:web', host.replace(':', '%3A'), ...path].join(':')
}

function urlOf(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return null
  if (url.search !== '' || url.hash !== '') return null
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

const subject = z
  .string()
  .max(longestUri)
  .transform((text, context) => {
    const [canonical, problem] = readSubject(text)
    if (problem === null) return canonical
    const example = 'such as `@*@b.example`, `@a@b.example` or `mailto:a@b.example`'
    context.addIssue({
      code: 'custom',
      message: `must be an address, all of a domain, or a URI, ${example}: ${problem}`,
    })
    return z.NEVER
  })

function readSubject(text: string): readonly [canonical: string, problem: string | null] {
  if (text.startsWith(anyOfDomain)) {
    const { value, problem } = readDomain(text.slice(anyOfDomain.length))
    return [`${anyOfDomain}${value}`, problem]
  }
  if (text.startsWith('@')) {
    const read = readAddress(text)
    return read.ok ? [canonicalSubject(text), null] : [text, read.problem]
  }
  return [
    text,
    /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/.test(text) ? null : 'a URI begins with its scheme, such as `mailto:`',
  ]
}

/** Entries of `federation.trust`. */
export const trustSchema = z
  .array(
    z.strictObject({
      issuer,
      /** `*` for any. */
      methods: z.array(z.string().min(1).max(200)).min(1).max(100),
      subjects: z.array(subject).min(1).max(1000),
    }),
  )
  .max(1000)
  .default([])

/** Entries of `federation.issuers`, which only a configuration in code can have. */
export const issuersSchema = z
  .array(
    z.strictObject({
      issuer,
      reissue: z.custom<EvidenceIssuer['reissue']>((value) => typeof value === 'function', {
        error: 'must be a function that makes evidence anew: write the configuration in code',
      }),
    }),
  )
  .max(100)
  .default([])
