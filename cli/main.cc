// The `adjudge` program.
int main() { return 0; }
