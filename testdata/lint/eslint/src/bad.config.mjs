export default [{ nosuchkey: true }];
