/** The till: a page for each bill, on which a person pays. Nothing is paid in truth. */
import { createServer, type Server } from 'node:http'

const page = (
  id: string,
  isPaid: boolean,
) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Bill ${id}</title>
<body style="font: 1rem system-ui; margin: 3rem"><h1>Bill ${id}</h1><p>An article of the archive: 2.00 EUR.</p>
${isPaid ? '<p>Paid. Thank you. Go back and accept the condition.</p>' : '<form method="post"><button>Pay 2.00 EUR</button></form>'}`

/** `GET /bills/<id>` is the page, `POST` pays, and `GET /bills/<id>/paid` says `true` or `false` to the archive. */
export async function startTill(port: number): Promise<Server> {
  const paid = new Set<string>()
  const server = createServer((request, response) => {
    const [, id = '', isAsked] = /^\/bills\/([\w-]{1,100})(\/paid)?$/.exec(request.url ?? '') ?? []
    if (id === '') return void response.writeHead(404).end()
    if (request.method === 'POST') paid.add(id)
    const body = isAsked === undefined ? page(id, paid.has(id)) : String(paid.has(id))
    response.writeHead(200, { 'content-type': isAsked === undefined ? 'text/html' : 'text/plain' }).end(body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return server
}
