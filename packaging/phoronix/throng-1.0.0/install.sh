#!/bin/sh
tar -xzf throng-0.1.0.tar.gz &&
    cmake -S throng-0.1.0 -B build -G Ninja -D CMAKE_BUILD_TYPE=Release &&
    cmake --build build --target throng
echo $? >~/install-exit-status

cat >throng <<'EOF'
#!/bin/sh
./build/bin/throng bench --filter "^throng-1/$1/all_threads\$" --max-time 5 >$LOG_FILE
echo $? >~/test-exit-status
EOF
chmod +x throng
