/** Small PDFs for tests, written by hand. */
import { deflateSync } from 'node:zlib'

/** Lines of a page: each with the size of its letters and its distance from the line above, in points. */
type PdfLine = readonly [size: number, step: number, text: string]

/** A PDF with one page for each list of lines. */
export function pdfOf(pages: readonly (readonly PdfLine[])[], { title = '' } = {}): Buffer {
  return pdfWith(
    pages.map((lines) => {
      const shown = lines.map(
        ([size, step, text]) => `/F1 ${size} Tf 0 -${step} Td (${text.replace(/[()\\]/g, '\\$&')}) Tj`,
      )
      return Buffer.from(`BT 40 760 Td ${shown.join('\n')} ET`)
    }),
    { title },
  )
}

/** A PDF whose pages have these contents, compressed. */
export function pdfWith(contents: readonly Buffer[], { title = '', filters = 1 } = {}): Buffer {
  const objects: Buffer[] = [
    Buffer.from('<</Type/Catalog/Pages 2 0 R>>'),
    Buffer.from(
      `<</Type/Pages/Count ${contents.length}/Kids[${contents.map((_, at) => `${5 + at * 2} 0 R`).join(' ')}]>>`,
    ),
    Buffer.from('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'),
    Buffer.from(`<</Title(${title})>>`),
  ]
  for (const [at, content] of contents.entries()) {
    let stream = content
    for (let filter = 0; filter < filters; filter += 1) stream = deflateSync(stream, { level: 9 })
    const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${6 + at * 2} 0 R/Resources<</Font<</F1 3 0 R>>>>>>`
    const filter = `/Filter[${'/FlateDecode'.repeat(filters)}]`
    objects.push(Buffer.from(page))
    objects.push(
      Buffer.concat([
        Buffer.from(`<</Length ${stream.length}${filter}>>\nstream\n`),
        stream,
        Buffer.from('\nendstream'),
      ]),
    )
  }
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const places: number[] = []
  let size = parts[0]?.length ?? 0
  for (const [at, object] of objects.entries()) {
    const written = Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')])
    places.push(size)
    size += written.length
    parts.push(written)
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const count = objects.length + 1
  parts.push(
    Buffer.from(
      `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<</Size ${count}/Root 1 0 R/Info 4 0 R>>\nstartxref\n${size}\n%%EOF`,
    ),
  )
  return Buffer.concat(parts)
}
