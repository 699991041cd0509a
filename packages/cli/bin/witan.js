#!/usr/bin/env node
// Looks at Node before anything else, in JavaScript that the oldest one reads: it then says a sentence and shows no stack.
'use strict'

var needed = 24
var major = Number(process.versions.node.split('.')[0])
var source = __dirname + '/../src/main.ts'
var help = require('fs').existsSync(source)
  ? 'in a clone "npm ci", then "npx witan" bring it'
  : 'install it from https://nodejs.org'

if (major >= needed) {
  require('./start.cjs')
} else {
  console.error('witan needs Node ' + needed + ' or newer, and this is ' + process.version + ': ' + help + '.')
  process.exit(78)
}
