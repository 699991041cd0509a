/** What to do next, in words of the command line: a hint of the library or the server speaks of requests. */

/** From the words of a request to the words of a command, longest first. What a command line has no word for is left out. */
const spoken: readonly (readonly [RegExp, string])[] = [
  [/GET \/api\/v1\/agents\/(\S+) shows/g, '`witan agents show $1` shows'],
  [/GET \/api\/v1\/agents lists the agents/g, '`witan agents list` lists the agents'],
  [/GET \/api\/v1\/protocols lists the protocols/g, '`witan protocols list` lists the protocols'],
  [/GET \/api\/v1\/knowledge lists the knowledge bases/g, '`witan knowledge list` lists the knowledge bases'],
  [/GET \/api\/v1\/knowledge\/\{id\}\/documents lists them/g, '`witan knowledge show BASE` counts them'],
  [/The answer to POST \/api\/v1\/knowledge\/\{id\}\/documents names it/g, '`witan knowledge add` follows it'],
  [/Save it first: PUT \/api\/v1\/knowledge\/(\S+)\./g, 'Save it first: `witan knowledge apply -f FILE`.'],
  [/GET \/api\/v1\/memory lists the blocks/g, '`witan memory list` lists the blocks'],
  [
    /Read `current`, and send its revision as `expectedRevision`/g,
    '`witan memory show` has the present text and its revision',
  ],
  [/Write "filter": \{ "(\S+)": … \}/g, 'Write `--filter $1=VALUE`'],
  [/PUT \/api\/v1\/agents\/(\S+) changes it/g, '`witan agents apply -f FILE` changes it'],
  [/Use PUT to change it/g, '`witan agents apply -f FILE` changes it'],
  [/GET \/api\/v1\/conversations lists them/g, '`witan conversations list` lists them'],
  [/send it to POST \/api\/v1\/conversations\./g, 'give it to `witan chat`, which starts one.'],
  [/and send both to POST \/api\/v1\/conversations\/\S+\/runs/g, 'and send both with `witan run`'],
  [/GET \/api\/v1\/tasks lists them/g, '`witan tasks list` lists them'],
  [/GET the task for what it came to/g, '`witan tasks show` tells what it came to'],
  [/POST \/api\/v1\/conversations\/(\S+)\/participants adds/g, '`witan conversations people $1 --add PERSON` adds'],
  [/GET the participants of the conversation for those/g, '`witan conversations people ID` lists those'],
  [
    /GET \/api\/v1\/conversations\/\{id\}\/artifacts lists those of a conversation/g,
    '`witan artifacts list CONVERSATION` lists those of a conversation',
  ],
  [/GET \/api\/v1\/conversations\/\{id\}\/model-calls lists them/g, '`witan conversations prompts ID` lists them'],
  [/POST \/api\/v1\/check lists the paths in its `matrix`/g, '`witan check` prints the paths in its matrix'],
  [/GET \/api\/v1\/mcp\/servers lists them/g, '`mcpServers` of the configuration lists them'],
  [/GET \/api\/v1\/keys lists the keys/g, '`witan keys list` lists the keys'],
  [/GET the conversation for its runs/g, '`witan conversations show` has its runs'],
  [/GET the conversation for its tasks/g, '`witan tasks list` lists them'],
  [/GET \/api\/v1\/interruptions lists the open ones/g, '`witan interruptions list` lists the open ones'],
  [/delete with `?\?force=true`?/g, 'delete with `--force`'],
  [
    /The OpenAPI document at \/api\/v1\/openapi\.json has the schema/g,
    '`witan agents export` prints agents as they are written',
  ],
  [/; \/api\/v1\/openapi\.json has its schema/g, ''],
  [
    /GET \/api\/v1\/openapi\.json lists what there is, and the roles that reach it/g,
    '`witan --help` lists what there is; it may need another role',
  ],
  [/Give it when starting the conversation/g, 'Give it with `--param NAME=VALUE`'],
  [/Pass it when starting the conversation/g, 'Give it with `--param NAME=VALUE`'],
]

/** A hint as somebody at a terminal can follow it. */
export function asCommand(hint: string): string {
  return spoken.reduce((text, [request, command]) => text.replace(request, command), hint)
}
