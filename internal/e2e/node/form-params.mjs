// Asks the TypeScript SDK whether schemas are what elicitation/create may carry, for the tests in ../forms.
//
// Standard input is a JSON array of requestedSchemas. Standard output is a JSON array with, for each, null when
// ElicitRequestFormParamsSchema accepts it and keeps all of it, else why not.
import { isDeepStrictEqual } from 'node:util';
import { text } from 'node:stream/consumers';
import { ElicitRequestFormParamsSchema } from '@modelcontextprotocol/core';

const schemas = JSON.parse(await text(process.stdin));
const verdicts = schemas.map((requestedSchema) => {
  const params = { mode: 'form', message: 'Please answer.', requestedSchema };
  const result = ElicitRequestFormParamsSchema.safeParse(params);
  if (!result.success) {
    return JSON.stringify(result.error.issues);
  }
  return isDeepStrictEqual(result.data, params) ? null : `it became ${JSON.stringify(result.data)}`;
});
console.log(JSON.stringify(verdicts));
